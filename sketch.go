package alike

import (
	"context"

	"github.com/alike-dev/alike/dedup"
	"github.com/alike-dev/alike/minhash"
)

// Fingerprint is a document's signature. Its fields hold during the call only.
type Fingerprint = dedup.Fingerprint

// Sketch calls emit for every document of config.Inputs in input order, with
// its signature under config.Sketch. Of config, only what concerns reading, text
// and sketching is used.
func Sketch(ctx context.Context, config Config, emit func(Fingerprint) error) (*Summary, error) {
	return dedup.Sketch(ctx, config, emit)
}

// DefaultScheme is the scheme of signatures when none is chosen.
func DefaultScheme() minhash.Scheme { return minhash.Default() }

// Fingerprinted looks at the first record of the inputs and returns its scheme if it is a
// fingerprint, as Sketch makes them; see dedup.Fingerprinted and Config.Fingerprints.
func Fingerprinted(ctx context.Context, config *Config) (line string, ok bool, err error) {
	return dedup.Fingerprinted(ctx, config)
}
