package store

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"

	"mcpc/internal/refusal"
)

func TestGoroutinesTakeTurns(t *testing.T) {
	t.Parallel()
	c := inFolder(t.TempDir())
	done := make(chan bool)
	for range 4 {
		go func() { count(c, 5); done <- true }()
	}
	for range 4 {
		<-done
	}
	if got, err := c.Get(t.Context(), docs); err != nil || got.AccessToken.Reveal() != "20" || got.Generation != 20 {
		t.Fatalf("%+v, %v", got, err)
	}
}

func TestWaitingEnds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	holder := other(t, "hold", dir)
	in, err := holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if lines := start(t, holder); !lines.Scan() || lines.Text() != "held" {
		t.Fatal("the other process does not hold the lock")
	}
	c := inFolder(dir)
	c.limits.LockWait = 30 * time.Millisecond
	never := func(*Tx) error { t.Error("entered"); return nil }
	err = c.Transact(t.Context(), docs, never)
	if r, _ := refusal.As(err); r == nil || r.Entry() != refusal.DeadlineLock || r.Detail("limit") != int64(30) {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Transact(ctx, docs, never); !refusal.Is(err, refusal.Interrupted) {
		t.Fatal(err)
	}
	// The lock ends with its process, however that ends.
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = holder.Wait()
	c.limits.LockWait = time.Minute
	if err := c.Transact(t.Context(), docs, func(tx *Tx) error { return tx.Put(sample(docs)) }); err != nil {
		t.Fatal(err)
	}
}

func TestProcessesTakeTurns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const processes = 6 // each adds 10; they also race for making the key
	results := make(chan error)
	for range processes {
		cmd := other(t, "count", dir)
		go func() {
			out, err := cmd.CombinedOutput()
			if err != nil {
				err = fmt.Errorf("%w: %s", err, out)
			}
			results <- err
		}()
	}
	for range processes {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	got, err := inFolder(dir).Get(t.Context(), docs)
	if err != nil || got.AccessToken.Reveal() != "60" || got.Generation != 60 {
		t.Fatalf("%+v, %v", got, err)
	}
}

// killPoints is how many times a writing process is killed, each time a little later in its work: four times of five
// while it writes a credential, else while it writes a snapshot.
var killPoints = flag.Int("kill-points", 200, "how many times a writing process is killed")

func TestKilledWriterLosesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := inFolder(dir)
	if err := c.Replace(t.Context(), sample(docs)); err != nil {
		t.Fatal(err)
	}
	unfinished := 0
	for point := range *killPoints * 4 / 5 {
		cmd := other(t, "write", dir)
		lines := start(t, cmd)
		if !lines.Scan() {
			t.Fatal("the other process does not write")
		}
		time.Sleep(time.Duration(point%400) * 17 * time.Microsecond) // the point of the kill, not a wait for anything
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		last := lines.Text()
		for lines.Scan() {
			last = lines.Text()
		}
		_ = cmd.Wait()
		var said uint64
		if _, err := fmt.Sscan(last, &said); err != nil {
			t.Fatalf("point %d: %s", point, last)
		}
		got, err := inFolder(dir).Get(t.Context(), docs)
		if err != nil || got.Generation < said || got.RefreshToken.Reveal() != "refresh-canary" {
			t.Fatalf("point %d: said %d, found %+v, %v", point, said, got, err)
		}
		left, _ := filepath.Glob(filepath.Join(c.dir, "*"+nextSuffix))
		unfinished += len(left)
		// Any command that looks for a credential clears up behind a killed one, and waits for nobody.
		if all, err := c.Of(docs.Resource); err != nil || len(all) != 1 {
			t.Fatalf("point %d: %+v, %v", point, all, err)
		}
		name := filepath.Base(c.path(docs))
		if all := names(t, c.dir); !slices.Equal(all, []string{name, name + lockSuffix, "key" + lockSuffix}) {
			t.Fatalf("point %d: left behind: %v", point, all)
		}
	}
	t.Logf("%d kills over writes of a credential: 0 torn, 0 missing, 0 stray; %d unfinished writes were cleared up",
		*killPoints*4/5, unfinished)
}

// What a live writer has between writing and renaming is its own; what nobody holds the lock of is removed.
func TestOnlyWhatNobodyHoldsIsCleared(t *testing.T) {
	t.Parallel()
	c := inFolder(t.TempDir())
	if err := c.Replace(t.Context(), sample(docs)); err != nil {
		t.Fatal(err)
	}
	next := c.path(docs) + nextSuffix
	there := func() bool {
		if all, err := c.List(); err != nil || len(all) != 1 {
			t.Fatal(all, err)
		}
		_, err := os.Lstat(next)
		return err == nil
	}
	err := c.Transact(t.Context(), docs, func(*Tx) error {
		if err := os.WriteFile(next, nil, 0o600); err != nil || !there() {
			t.Error("a writer's own file was removed", err)
		}
		return nil
	})
	if err != nil || there() {
		t.Fatal("left behind", err)
	}
}

func TestKilledSnapshotWriterLeavesWholeFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for point := range *killPoints / 5 {
		cmd := other(t, "snapshots", dir)
		lines := start(t, cmd)
		said := map[string]bool{}
		for i := 0; i <= point%5 && lines.Scan(); i++ {
			said[lines.Text()] = true
		}
		time.Sleep(time.Duration(point%400) * 23 * time.Microsecond) // the point of the kill
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			said[lines.Text()] = true
		}
		_ = cmd.Wait()
		for _, f := range stored(t, dir) {
			delete(said, string(f.ID))
		}
		if len(said) > 0 {
			t.Fatalf("point %d: missing %v", point, said)
		}
	}
	if all := names(t, dir); runtime.GOOS == "linux" && len(all) != len(stored(t, dir)) {
		t.Fatalf("left behind: %v", all)
	}
	t.Logf("%d kills over writes of snapshots: 0 torn, 0 missing, 0 stray", *killPoints/5)
}

// stored lists a folder of snapshots and checks that each is what its name says.
func stored(t testing.TB, dir string) []Stored {
	t.Helper()
	all, err := Snapshots{dir}.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if data := mustRead(t, f.Path); sum(data) != f.ID {
			t.Fatalf("%s holds %q", f.Path, data)
		}
	}
	return all
}
