package store

import (
	"bytes"
	"testing"
)

// FuzzSealedFile: a file opens only as what was sealed, under its own name.
func FuzzSealedFile(f *testing.F) {
	key := [keyBytes]byte{1, 2, 3}
	h := header{Kind: credentialKind, Resource: "https://a.example/mcp", Issuer: "https://b.example", ClientID: "c"}
	sealed := secretPayload{Access: "token"}
	file, err := seal(key, h, sealed)
	if err != nil {
		f.Fatal(err)
	}
	name := h.fileName()
	f.Add(name, file)
	for _, at := range []int{0, 1, 20, 60, len(file) / 2, len(file) - 40, len(file) - 17, len(file) - 16, len(file) - 1} {
		changed := bytes.Clone(file)
		changed[at] ^= 1
		f.Add(name, changed)
		f.Add(name, file[:at])
	}
	for _, text := range []string{"", "\n", "{}\n", `{"mcpc":"credential/1"}` + "\n", "{\n}", string(file) + "x", "x" + string(file)} {
		f.Add(name, []byte(text))
	}
	f.Add("other"+sealedSuffix, file)
	f.Fuzz(func(t *testing.T, under string, data []byte) {
		var got secretPayload
		opened, ok := unseal(key, under, data, &got)
		if ok && (got != sealed || opened.fileName() != name || under != name || opened.Issuer != h.Issuer) {
			t.Fatalf("%q opens under %q as %+v, %+v", data, under, opened, got)
		}
		read, line, ok := readHeader(under, data)
		if ok && (read.fileName() != under || !bytes.HasPrefix(data, append(bytes.Clone(line), '\n'))) {
			t.Fatalf("the head of %q is %q", data, line)
		}
	})
}

type secretPayload struct{ Access string }
