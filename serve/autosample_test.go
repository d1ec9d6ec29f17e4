package serve

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// sampleOfReprints returns texts of which half are edits of others, as a list of JSON.
func sampleOfReprints(t *testing.T) string {
	t.Helper()
	var all []string
	for _, line := range texts(400) {
		var d struct{ Text string }
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatal(err)
		}
		words := strings.Fields(d.Text)
		for i := len(all) % 3; i < len(words); i += 4 { // no five words in a row are as they were
			words[i] += string('a' + rune(len(all)%26))
		}
		all = append(all, strings.Join(words, " "))
	}
	list, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(list)
}

func TestASampleChoosesTheRecipeOfACollection(t *testing.T) {
	s := start(t, Config{})
	const path = "/v1/collections/news"
	body := `{"recipe":"auto","fold":true,"window":{"docs":1000},"sample":` + sampleOfReprints(t) + `}`
	status, made := s.do(http.MethodPut, path, jsonType, body)
	if status != http.StatusCreated || strings.Contains(made, "sample") || !strings.Contains(made, `"threshold"`) || strings.Contains(made, `"threshold":0.8`) {
		t.Fatalf("%d %s", status, made)
	}
	s.want(http.StatusOK, strings.TrimSpace(made), http.MethodPut, path, body) // the same sample says the same
	s.want(http.StatusOK, strings.TrimSpace(made), http.MethodPut, path, made)
	s.want(http.StatusOK, strings.TrimSpace(made), http.MethodGet, path, "")
}

func TestASampleThatSaysNothingLeavesTheDefault(t *testing.T) {
	s := start(t, Config{})
	s.want(http.StatusCreated, `{"measure":"jaccard","ngram":5,"threshold":0.8,"tokens":"words"}`, http.MethodPut, "/v1/collections/few", `{"recipe":"auto","sample":["one text alone"]}`)
}

func TestASampleIsRefusedBesideWhatItIsToSay(t *testing.T) {
	s := start(t, Config{})
	for body, field := range map[string]string{
		`{"recipe":"auto"}`:                            "sample",
		`{"sample":["a"]}`:                             "sample",
		`{"recipe":"best","sample":["a"]}`:             "recipe",
		`{"recipe":"auto","sample":[]}`:                "sample",
		`{"recipe":"auto","sample":"a"}`:               "sample",
		`{"recipe":"auto","sample":[1]}`:               "sample",
		`{"recipe":"auto","sample":["a"],"ngram":3}`:   "ngram",
		`{"recipe":"auto","sample":["a"],"zzz":3}`:     "zzz",
		`{"recipe":"auto","sample":["a"],"preset":""}`: "preset",
	} {
		status, answer := s.do(http.MethodPut, "/v1/collections/c", jsonType, body)
		if status != http.StatusUnprocessableEntity || !strings.Contains(answer, `"field":"`+field+`"`) {
			t.Errorf("%s: %d %s", body, status, answer)
		}
	}
}
