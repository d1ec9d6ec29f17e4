package serve

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
)

// sampleOfReprints returns texts of which half are cut and edited reprints of the other half, as a list of JSON.
func sampleOfReprints(t *testing.T) string {
	t.Helper()
	var all []string
	random := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		words := make([]string, 60)
		for k := range words {
			words[k] = fmt.Sprint("w", random.IntN(5000))
		}
		all = append(all, strings.Join(words, " "))
		for range 4 {
			words[15+random.IntN(45)] = fmt.Sprint("w", random.IntN(5000))
		}
		all = append(all, strings.Join(words[15:], " "))
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
