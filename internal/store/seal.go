package store

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/go-json-experiment/json"

	"mcpc/internal/strictjson"
)

// A sealed file is one line of JSON in the clear, a line end, a nonce, and the rest sealed by AES-256-GCM. The
// additional data is the file's name and that line, byte for byte: the format, the resource, the issuer and the client
// id are in it, so a file that is edited, renamed or exchanged for another does not open.

const (
	credentialKind   = "credential/1" // #nosec G101 -- a kind of document
	registrationKind = "registration/1"
	sealedSuffix     = ".sealed"
	maxSealedBytes   = 1 << 20
	keyBytes         = 32
)

// header is what is readable without the key.
type header struct {
	Kind        string    `json:"mcpc"`
	Resource    string    `json:"resource,omitzero"`
	Issuer      string    `json:"issuer"`
	Indicator   string    `json:"indicator,omitzero"`
	ClientID    string    `json:"client"`
	Scopes      []string  `json:"scopes,omitempty"`
	Expiry      time.Time `json:"expiry,omitzero"`
	Refreshable bool      `json:"refreshable,omitzero"`
	Handle      string    `json:"handle,omitzero"`
	Generation  uint64    `json:"generation,omitzero"`
}

// fileName is derived from what the file is bound to, and from nothing else.
func (h header) fileName() string {
	bound := append(strictjson.Quote(h.Kind), strictjson.Quote(h.Resource)...)
	sum := sha256.Sum256(append(bound, strictjson.Quote(h.Issuer)...))
	return hex.EncodeToString(sum[:]) + sealedSuffix
}

// seal returns the bytes of a file. It fails for text that is not UTF-8, which no JSON can carry.
func seal(key [keyBytes]byte, h header, payload any) ([]byte, error) {
	line, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	plain, err := json.Marshal(payload)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, nonceBytes)
	rand.Read(nonce) // never fails
	file := append(append(bytes.Clone(line), '\n'), nonce...)
	return aead(key).Seal(file, nonce, plain, additional(h.fileName(), line)), nil
}

const nonceBytes = 12

func aead(key [keyBytes]byte) cipher.AEAD {
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err) // the key's length is fixed
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		panic(err)
	}
	return gcm
}

func additional(name string, line []byte) []byte { return append([]byte(name+"\n"), line...) }

// readHeader returns the clear line of a file; ok is false when it is none of ours, or stands under another name.
func readHeader(name string, file []byte) (h header, line []byte, ok bool) {
	line, _, found := bytes.Cut(file, []byte("\n"))
	if !found || strictjson.ValidateObject(line, 2) != nil ||
		json.Unmarshal(line, &h, json.RejectUnknownMembers(true)) != nil {
		return header{}, nil, false
	}
	return h, line, (h.Kind == credentialKind || h.Kind == registrationKind) && h.fileName() == name
}

// unseal opens a file into payload; ok is false when it does not open, for whatever reason.
func unseal(key [keyBytes]byte, name string, file []byte, payload any) (h header, ok bool) {
	h, line, ok := readHeader(name, file)
	if !ok || len(file) < len(line)+1+nonceBytes {
		return header{}, false
	}
	rest := file[len(line)+1:]
	plain, err := aead(key).Open(nil, rest[:nonceBytes], rest[nonceBytes:], additional(name, line))
	if err != nil || json.Unmarshal(plain, payload, json.RejectUnknownMembers(true)) != nil {
		return header{}, false
	}
	return h, true
}
