package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"

	"mcpc/internal/refusal"
	"mcpc/internal/store"
	"mcpc/internal/strictjson"
	"mcpc/internal/terminal"
)

// extensions are the file names that a media type gets; anything else is .bin. A server's own file names are not used.
var extensions = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "image/svg+xml": ".svg",
	"audio/wav": ".wav", "audio/mpeg": ".mp3", "audio/ogg": ".ogg", "application/pdf": ".pdf", "text/plain": ".txt",
}

// saveBinaries writes each binary block to its own new file in dir, and returns the names by block index. A block
// that is no valid base64 is left in the result and named in a note.
func (a *app) saveBinaries(raw []byte, dir string) (map[int]string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, refusal.New(refusal.OutputWrite, refusal.Own("path", dir))
	}
	saved := map[int]string{}
	content, _ := strictjson.Member(raw, "content")
	for i, block := range strictjson.Elements(content) {
		data, mime, ok := binaryOf(block)
		if !ok {
			continue
		}
		bytes, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			a.note("note: block %d is not valid base64 and was not saved", i)
			continue
		}
		path := filepath.Join(dir, fmt.Sprintf("%02d%s", i, extension(mime)))
		if err := store.WriteExclusive(path, bytes, 0o600); err != nil {
			return saved, err
		}
		saved[i] = path
		a.note("saved %s", terminal.Escape(path))
	}
	return saved, nil
}

func binaryOf(block []byte) (data, mime string, ok bool) {
	switch strictjson.MemberText(block, "type") {
	case "image", "audio":
		data, ok = textOf(block, "data")
		return data, strictjson.MemberText(block, "mimeType"), ok
	case "resource":
		r, _ := strictjson.Member(block, "resource")
		data, ok = textOf(r, "blob")
		return data, strictjson.MemberText(r, "mimeType"), ok
	}
	return "", "", false
}

func extension(mime string) string {
	if e, ok := extensions[mime]; ok {
		return e
	}
	return ".bin"
}
