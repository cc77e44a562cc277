package main

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"time"

	"mcpc/internal/snapshot"
	"mcpc/internal/strictjson"
)

// recorded is when, by what, and for stdio from which program a snapshot is taken. It is evidence, and in no id.
func (c *conversation) recorded() snapshot.Recorded {
	r := snapshot.Recorded{At: c.app.now().UTC().Truncate(time.Second), By: "mcpc " + version}
	if k, ok := c.carrier.(interface{ Executable() string }); ok {
		r.Executable = k.Executable()
		if c.kept {
			r.ExecutableDigest = fileDigest(r.Executable)
		}
		r.Env = c.server.Stdio.Env
	}
	return r
}

// fileDigest returns the digest of a file, or "" when it cannot be read.
func fileDigest(path string) strictjson.Digest {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	return strictjson.Digest("sha256:" + hex.EncodeToString(h.Sum(nil)))
}
