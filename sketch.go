package alike

import (
	"context"

	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/minhash"
)

// Fingerprint is a document's signature. Its fields are valid during the call only.
type Fingerprint = dedup.Fingerprint

// Sketch calls emit for every document of config.Inputs in input order, with its
// signature under config.Signatures. It uses only those fields of config that concern
// reading, text and sketching.
func Sketch(ctx context.Context, config Config, emit func(Fingerprint) error) (*Summary, error) {
	return dedup.Sketch(ctx, config, emit)
}

// DefaultScheme is the scheme of signatures when none is chosen.
func DefaultScheme() minhash.Scheme { return minhash.Default() }

// Fingerprinted reads the first record of the inputs. If that is a fingerprint of Sketch,
// it returns its scheme; see dedup.Fingerprinted and Config.Fingerprints.
func Fingerprinted(ctx context.Context, config *Config) (line string, ok bool, err error) {
	return dedup.Fingerprinted(ctx, config)
}
