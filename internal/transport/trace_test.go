package transport

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"mcpc/internal/config"
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

// A server may answer with what it received.
func TestTraceWithholdsCredentials(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	trace := NewTrace(&b, func() time.Time { return time.Unix(0, 0).UTC() })
	trace.Withhold(config.NewSecret(`tok"en-canary`))
	trace.Withhold(config.NewSecret("1"))
	trace.Received("a", 400, []byte(`{"error":"Bearer tok\"en-canary","a":1}`))
	trace.Received(`tok"en-canary`, 0, []byte(`{"a":1}`))
	trace.Sent("b", []byte(`{"a":1}`))
	want := `{"time":"1970-01-01T00:00:00Z","direction":"received","method":"a","status":400,"bytes":39,"withheld":true}
{"time":"1970-01-01T00:00:00Z","direction":"received","method":"","bytes":7,"withheld":true}
{"time":"1970-01-01T00:00:00Z","direction":"sent","method":"b","bytes":7,"frame":{"a":1}}
`
	if b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestTraceNil(t *testing.T) {
	t.Parallel()
	var trace *Trace
	trace.Sent("a", nil)
	trace.Received("a", 0, nil)
	trace.Withhold(config.NewSecret("12345678"))
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
