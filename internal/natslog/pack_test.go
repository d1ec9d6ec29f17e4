package natslog

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestPackedEntriesComeBack(t *testing.T) {
	random := make([]byte, 4096)
	for i := range random {
		random[i] = byte(rand.Uint32())
	}
	var packed []byte
	room := make([]byte, 0, 8192) // less than the largest takes
	for _, entry := range [][]byte{{1}, []byte("\x01" + strings.Repeat("text ", 20)), []byte("\x01" + strings.Repeat("some text ", 1000)), append([]byte{1}, random...)} {
		message := pack(entry, &packed)
		got, err := unpack(message, room)
		if err != nil || !bytes.Equal(got, entry) {
			t.Errorf("%d bytes come back as %d (%v)", len(entry), len(got), err)
		}
		if len(message) > len(entry) || strings.Contains(string(entry), "some text") != (message[0] == packedEntry) {
			t.Errorf("%d bytes are sent as %d", len(entry), len(message))
		}
	}
}

func TestDamagedMessagesAreErrors(t *testing.T) {
	whole := pack([]byte("\x01"+strings.Repeat("some text ", 1000)), new([]byte))
	for end := 1; end < len(whole); end++ {
		if _, err := unpack(whole[:end], nil); err == nil {
			t.Errorf("the first %d of %d bytes are taken", end, len(whole))
		}
	}
	if _, err := unpack([]byte("s\xff\xff\xff\xff\x0f"), nil); err == nil {
		t.Error("a length of gigabytes is taken")
	}
}
