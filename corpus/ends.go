package corpus

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"io"
)

// endBytes is how many bytes at either end of a source Ends reads.
const endBytes = 64 << 10

// Ends returns a digest of the size and of the first and last 64 KiB of the stored bytes. It tells a file from one that
// was written in its place with the same size and times, unless they differ only between these bytes. It is "" for a
// stream, and for an object that has a version, which says more. The error is a *Problem.
func (s Source) Ends(ctx context.Context, o Options) (string, error) {
	if s.Stream || s.Version != "" {
		return "", nil
	}
	at, err := s.OpenAt(ctx, o)
	if err != nil {
		return "", err
	}
	defer at.Close()
	ends, err := endsOf(at)
	if err != nil {
		return "", &Problem{Path: s.Label(), Err: err}
	}
	return ends, nil
}

func endsOf(at RandomAccess) (string, error) {
	size := at.Size()
	h := sha256.New()
	_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, uint64(size)))
	for _, part := range []*io.SectionReader{
		io.NewSectionReader(at, 0, min(size, endBytes)),
		io.NewSectionReader(at, max(size-endBytes, endBytes), endBytes), // of what the first part has left
	} {
		if _, err := io.Copy(h, part); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

// localEnds returns what State says about the ends of a file that the system tells too little about; "": nothing.
func (s Source) localEnds() string {
	if s.changed != 0 || s.object != nil || s.copied != nil {
		return ""
	}
	at, err := s.openFile()
	if err != nil {
		return ", cannot be read"
	}
	defer at.Close()
	ends, err := endsOf(at)
	if err != nil {
		return ", cannot be read"
	}
	return ", ends " + ends
}
