package transport

import (
	"bytes"
	"errors"
	"testing"
	"time"
)

func TestTrace(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	at := time.Date(2026, 12, 1, 15, 4, 5, 6000, time.UTC)
	trace := NewTrace(&b, func() time.Time { return at })
	trace.Sent("tools/call", []byte(`{"id":1.0, "a":"<"}`))
	trace.Received("tools/call", 200, []byte("{\r\n}\n"))
	trace.Received("a\"\n\u0001", 0, []byte(`{"a":1,"a":2}`))
	want := `{"time":"2026-12-01T15:04:05.000006Z","direction":"sent","method":"tools/call","bytes":19,"frame":{"id":1.0, "a":"<"}}
{"time":"2026-12-01T15:04:05.000006Z","direction":"received","method":"tools/call","status":200,"bytes":5,"frame":{  } }
{"time":"2026-12-01T15:04:05.000006Z","direction":"received","method":"a\"\n\u0001","bytes":13,"unparsed":true}
`
	if b.String() != want || trace.Err() != nil {
		t.Errorf("got\n%swant\n%s%v", b.String(), want, trace.Err())
	}
}

func TestTraceNil(t *testing.T) {
	t.Parallel()
	var trace *Trace
	trace.Sent("a", nil)
	trace.Received("a", 0, nil)
	if trace.Err() != nil {
		t.Error(trace.Err())
	}
}

type failingWriter struct{ writes int }

func (w *failingWriter) Write([]byte) (int, error) {
	w.writes++
	return 0, errors.New("full")
}

func TestTraceError(t *testing.T) {
	t.Parallel()
	w := &failingWriter{}
	trace := NewTrace(w, time.Now)
	trace.Sent("a", nil)
	trace.Sent("a", nil)
	if trace.Err() == nil || w.writes != 1 {
		t.Errorf("%v after %d writes", trace.Err(), w.writes)
	}
}
