package transport

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tmaxmax/go-sse"

	"mcpc/internal/refusal"
	"mcpc/internal/vectors"
)

// seen is one event together with the id that holds after it.
type seen struct {
	Kind string `json:"kind"`
	Data string `json:"data"`
	ID   string `json:"id"`
}

type sseVector struct {
	name    string
	limit   int64
	events  []seen
	retry   int64
	refusal string
	body    []byte
}

func TestEventStreamVectors(t *testing.T) {
	t.Parallel()
	for _, v := range sseVectors(t) {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			for how, r := range chunkings(v.body) {
				got, retry, err := readEvents(r, v.limit)
				if diff := cmp.Diff(v.events, got); diff != "" {
					t.Errorf("%s: events (-want +got):\n%s", how, diff)
				}
				if retry != v.retry {
					t.Errorf("%s: retry %d, want %d", how, retry, v.retry)
				}
				if name := refusalName(err); name != v.refusal {
					t.Errorf("%s: refusal %q, want %q", how, name, v.refusal)
				}
			}
		})
	}
}

// TestEventStreamAgainstAnotherReader holds ours against go-sse, which takes events without data for events with empty
// data, so neither are compared.
func TestEventStreamAgainstAnotherReader(t *testing.T) {
	t.Parallel()
	compared := 0
	for _, v := range sseVectors(t) {
		if v.limit < 1<<20 {
			continue // its bound is over something else
		}
		var want, got []seen
		for ev, err := range sse.Read(bytes.NewReader(v.body), nil) {
			if err != nil {
				t.Errorf("%s: %v", v.name, err)
			} else if ev.Data != "" {
				want = append(want, seen{Kind: ev.Type, Data: ev.Data})
			}
		}
		for _, ev := range v.events {
			if ev.Data != "" {
				got = append(got, seen{Kind: ev.Kind, Data: ev.Data})
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-theirs +ours):\n%s", v.name, diff)
		}
		compared++
	}
	if compared < 30 {
		t.Errorf("only %d compared", compared)
	}
}

// TestEventIsNotHeldBack proves that an event is there as soon as its last byte is, even where that is a CR.
func TestEventIsNotHeldBack(t *testing.T) {
	t.Parallel()
	for _, stream := range []string{"data: a\n\n", "data: a\r\n\r\n", "data: a\r\r", "data: a\r\n\r"} {
		in, out := io.Pipe()
		go func() { _, _ = out.Write([]byte(stream)) }()
		got := make(chan event, 1)
		go func() {
			ev, _ := newEventReader(in, 100).next()
			got <- ev
		}()
		select {
		case ev := <-got:
			if string(ev.data) != "a" {
				t.Errorf("%q gives %q", stream, ev.data)
			}
		case <-time.After(5 * time.Second):
			t.Errorf("%q is held back", stream)
		}
		out.Close()
	}
}

func TestEventReaderPassesErrorsOn(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	r := io.MultiReader(strings.NewReader("data: a\n\ndata: b"), iotest.ErrReader(broken))
	got, _, err := readEvents(r, 100)
	if !errors.Is(err, broken) || len(got) != 1 {
		t.Errorf("got %v and error %v", got, err)
	}
}

// FuzzEventStream: how the bytes are cut into chunks changes nothing, and no event is over the limit.
func FuzzEventStream(f *testing.F) {
	for _, v := range sseVectors(f) {
		f.Add(v.body)
	}
	const limit = 64
	f.Fuzz(func(t *testing.T, body []byte) {
		want, wantRetry, wantErr := readEvents(bytes.NewReader(body), limit)
		if wantErr != nil && !refusal.Is(wantErr, refusal.LimitFrame) {
			t.Fatalf("error %v", wantErr)
		}
		for _, ev := range want {
			if len(ev.Data) > limit {
				t.Fatalf("an event of %d bytes", len(ev.Data))
			}
		}
		for how, r := range chunkings(body) {
			got, retry, err := readEvents(r, limit)
			if diff := cmp.Diff(want, got); diff != "" || retry != wantRetry || (err == nil) != (wantErr == nil) {
				t.Fatalf("%s: retry %d, error %v, events (-whole +chunked):\n%s", how, retry, err, diff)
			}
		}
	})
}

func chunkings(body []byte) map[string]io.Reader {
	return map[string]io.Reader{
		"whole":    bytes.NewReader(body),
		"one byte": iotest.OneByteReader(bytes.NewReader(body)),
		"halves":   iotest.HalfReader(bytes.NewReader(body)),
		"with EOF": iotest.DataErrReader(bytes.NewReader(body)),
	}
}

func readEvents(r io.Reader, limit int64) (all []seen, retry int64, err error) {
	in := newEventReader(r, limit)
	for {
		ev, err := in.next()
		if err != nil {
			if in.retry >= 0 {
				retry = in.retry.Milliseconds()
			}
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return all, retry, err
		}
		all = append(all, seen{ev.kind, string(ev.data), in.id})
	}
}

func refusalName(err error) string {
	if r, ok := refusal.As(err); ok {
		return r.Name()
	}
	return ""
}

func sseVectors(t testing.TB) []sseVector {
	t.Helper()
	var all []sseVector
	for _, v := range vectors.Read(t, "sse", 47, "refusal", "limit", "retry", "event", "source") {
		all = append(all, parseSSEVector(t, v))
	}
	return all
}

func events(raw vectors.Vector) []string {
	if lines, ok := raw.Header["event"]; ok {
		return strings.Split(lines, "\n")
	}
	return nil
}

func parseSSEVector(t testing.TB, raw vectors.Vector) sseVector {
	t.Helper()
	v := sseVector{name: raw.Name, limit: 1 << 20, refusal: raw.Header["refusal"], body: raw.Data}
	for key, field := range map[string]*int64{"limit": &v.limit, "retry": &v.retry} {
		if text, ok := raw.Header[key]; ok {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil {
				t.Fatalf("%s: %s: %v", v.name, key, err)
			}
			*field = n
		}
	}
	for _, line := range events(raw) {
		var ev seen
		if err := json.Unmarshal([]byte(line), &ev); err != nil {
			t.Fatalf("%s: event: %v", v.name, err)
		}
		v.events = append(v.events, ev)
	}
	expect := raw.Header["expect"]
	if want := map[bool]string{true: "refusal", false: "events"}[v.refusal != ""]; expect != want {
		t.Fatalf("%s: expect is %q, want %q", v.name, expect, want)
	}
	return v
}
