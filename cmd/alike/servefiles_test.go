package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// writeCertificate writes a certificate with a serial number, and its key.
func writeCertificate(t *testing.T, certificate, key string, serial int64) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"}}
	signed, err := x509.CreateCertificate(rand.Reader, about, about, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{certificate: {Type: "CERTIFICATE", Bytes: signed}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A changed file is taken; one that is wrong leaves all as it was, and the log does not have its content.
func TestFilesOfAServerAreFollowed(t *testing.T) {
	dir := t.TempDir()
	certificate, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writeCertificate(t, certificate, key, 1)
	config, file := followCertificate(certificate, key)
	serial := func() int64 {
		t.Helper()
		pair, err := config.GetCertificate(&tls.ClientHelloInfo{})
		if err != nil {
			t.Fatal(err)
		}
		return pair.Leaf.SerialNumber.Int64()
	}
	var told bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&told, nil))
	if err := file.load(); err != nil || serial() != 1 {
		t.Fatal(err)
	}
	if file.again(log); told.Len() > 0 {
		t.Errorf("nothing has changed: %s", told.String())
	}
	writeCertificate(t, certificate, key, 2)
	if file.again(log); serial() != 2 {
		t.Errorf("certificate %d", serial())
	}
	if err := os.WriteFile(key, []byte("confidential"), 0o600); err != nil {
		t.Fatal(err)
	}
	if file.again(log); serial() != 2 || !strings.Contains(told.String(), `"level":"ERROR"`) || strings.Contains(told.String(), "confidential") {
		t.Errorf("certificate %d, %s", serial(), told.String())
	}
}
