package main

import (
	"bufio"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/alike-dev/alike/simhash"
)

// fingerprintsOf reads the output of `alike sketch`: ids, and signatures as bytes.
func fingerprintsOf(path string) (ids []string, signatures [][]byte, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	for d := json.NewDecoder(bufio.NewReaderSize(file, 1<<20)); ; {
		var line struct{ ID, Signature string }
		if err := d.Decode(&line); errors.Is(err, io.EOF) {
			return ids, signatures, nil
		} else if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		signature, err := base64.StdEncoding.DecodeString(line.Signature)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %s: %w", path, line.ID, err)
		}
		ids, signatures = append(ids, line.ID), append(signatures, signature)
	}
}

// checkPairs compares the pairs that `alike pairs --distance` wrote with brute force, for every
// step-th fingerprint.
func checkPairs(fingerprints, pairs string, distance, step int) error {
	ids, signatures, err := fingerprintsOf(fingerprints)
	if err != nil {
		return err
	}
	file, err := os.Open(pairs)
	if err != nil {
		return err
	}
	defer file.Close()
	rows, err := csv.NewReader(bufio.NewReader(file)).ReadAll()
	if err != nil {
		return err
	}
	found, listed := map[[2]string]bool{}, map[string]int{} // pairs, and how many of each id
	for _, row := range rows[1:] {
		found[[2]string{row[0], row[1]}] = true
		listed[row[0]]++
		listed[row[1]]++
	}
	words := make([][]uint32, len(signatures))
	for i, s := range signatures {
		words[i] = make([]uint32, (len(s)+3)/4)
		for j, b := range s {
			words[i][j/4] |= uint32(b) << (j % 4 * 8)
		}
	}
	within, wrong := 0, 0
	for i := 0; i < len(ids); i += step {
		right := 0
		for j := range ids {
			if i == j || simhash.Distance(words[i], words[j]) > distance {
				continue
			}
			within++
			if found[[2]string{ids[min(i, j)], ids[max(i, j)]}] {
				right++
			} else {
				wrong++
			}
		}
		wrong += listed[ids[i]] - right // those that are listed and should not be
	}
	fmt.Printf("%d fingerprints, %d pairs listed; %d compared with all: %d pairs within %d, %d judged otherwise\n",
		len(ids), len(found), (len(ids)+step-1)/step, within, distance, wrong)
	if wrong > 0 {
		return errors.New("the pairs are not those of brute force")
	}
	return nil
}
