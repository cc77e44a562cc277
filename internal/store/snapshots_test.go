package store

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mcpc/internal/refusal"
	"mcpc/internal/strictjson"
)

func TestSnapshots(t *testing.T) {
	t.Parallel()
	s := Snapshots{filepath.Join(t.TempDir(), "a", "snapshots")}
	if all, err := s.List(); err != nil || len(all) != 0 {
		t.Fatalf("before the first: %v, %v", all, err)
	}
	texts := []string{"one", "two", "three"}
	for i, text := range texts {
		id := strictjson.Sum([]byte(text))
		path, isNew, err := s.Put(id, []byte(text))
		if err != nil || !isNew || path != filepath.Join(s.Dir, id.Hex()+".json") {
			t.Fatal(path, isNew, err)
		}
		if again, isNew, err := s.Put(id, []byte("other")); err != nil || isNew || again != path {
			t.Fatal(again, isNew, err)
		}
		at := time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		if data, err := s.Get(id, int64(len(text))); err != nil || string(data) != text {
			t.Fatalf("%q, %v", data, err)
		}
		if _, err := s.Get(id, int64(len(text))-1); !refusal.Is(err, refusal.LimitSnapshot) {
			t.Fatal(err)
		}
	}
	for _, stray := range []string{"x.json", ".mcpc-1.tmp", strings.Repeat("A", 64) + ".json", strings.Repeat("a", 64)} {
		if err := os.WriteFile(filepath.Join(s.Dir, stray), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all, err := s.List()
	if err != nil || len(all) != 3 {
		t.Fatal(all, err)
	}
	for i, f := range all {
		if want := texts[2-i]; f.ID != strictjson.Sum([]byte(want)) || f.Size != int64(len(want)) {
			t.Errorf("%d is %+v", i, f)
		}
	}
}

func TestSnapshotsResolve(t *testing.T) {
	t.Parallel()
	s := Snapshots{t.TempDir()}
	a := strictjson.Digest("sha256:" + strings.Repeat("a", 64))
	b := strictjson.Digest("sha256:" + strings.Repeat("a", 20) + strings.Repeat("b", 44))
	for _, id := range []strictjson.Digest{a, b} {
		if _, _, err := s.Put(id, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		prefix string
		want   strictjson.Digest
		refuse *refusal.Entry
	}{
		{string(a), a, nil},
		{a.Hex(), a, nil},
		{b.Hex()[:21], b, nil},
		{"sha256:" + b.Hex()[:21], b, nil},
		{a.Hex()[:12], "", refusal.SnapshotAmbiguous},
		{a.Hex()[:11], "", refusal.SnapshotMissing},
		{"bbbbbbbbbbbb", "", refusal.SnapshotMissing},
		{strings.ToUpper(a.Hex()), "", refusal.SnapshotMissing},
		{"../../../../etc/passwd", "", refusal.SnapshotMissing},
		{"", "", refusal.SnapshotMissing},
		{"aaaaaaaaaaa*", "", refusal.SnapshotMissing},
	} {
		got, err := s.Resolve(tt.prefix)
		if got != tt.want || tt.refuse == nil && err != nil || tt.refuse != nil && !refusal.Is(err, tt.refuse) {
			t.Errorf("%q: %s, %v", tt.prefix, got, err)
		}
	}
	if _, err := s.Get(strictjson.Sum([]byte("none")), 1); !refusal.Is(err, refusal.SnapshotMissing) {
		t.Error(err)
	}
}

func TestSnapshotsAreReadOnlyInAnOwnerOnlyFolder(t *testing.T) {
	t.Parallel()
	s := Snapshots{filepath.Join(t.TempDir(), "new")}
	path, _, err := s.Put(strictjson.Sum(nil), bytes.Repeat([]byte("x"), 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	folder, err := os.Stat(s.Dir)
	if err != nil || !ownerOnly(folder) {
		t.Fatal(folder.Mode(), err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o222 != 0 || info.Size() != 1<<20 {
		t.Fatal(info, err)
	}
}
