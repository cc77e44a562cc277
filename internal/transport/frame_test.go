package transport

import (
	"bytes"
	"testing"

	"mcpc/internal/refusal"
	"mcpc/internal/strictjson"
	"mcpc/internal/vectors"
)

const testDepth = strictjson.MaxDepth

func frameVectors(t testing.TB) []vectors.Vector {
	t.Helper()
	return vectors.Read(t, "frame", 75, "refusal", "fault")
}

func (m message) name() string {
	switch {
	case m.kind == kindResponse && m.rpc != nil:
		return "error"
	case m.kind == kindResponse:
		return "response"
	case m.kind == kindNotification:
		return "notification"
	case m.kind == kindRequest:
		return "request"
	}
	return "nothing"
}

func TestFrameVectors(t *testing.T) {
	t.Parallel()
	for _, v := range frameVectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			m, no := decodeFrame(v.Data, testDepth)
			if v.Header["expect"] != "refuse" {
				if no != nil || m.name() != v.Header["expect"] {
					t.Fatalf("%s, %v; want %s", m.name(), no, v.Header["expect"])
				}
				return
			}
			if no == nil {
				t.Fatalf("accepted as %s, want %s", m.name(), v.Header["refusal"])
			}
			fault, _ := no.Detail("fault").(string)
			if no.Name() != v.Header["refusal"] || fault != v.Header["fault"] || m.kind != 0 {
				t.Fatalf("%s (%s), want %s (%s)", no.Name(), fault, v.Header["refusal"], v.Header["fault"])
			}
		})
	}
}

func TestFrameKeepsBytes(t *testing.T) {
	t.Parallel()
	result := `{ "a" : 1.50e+0,"\u0062":9007199254740993 }`
	data := `{"x" : [1.0]}`
	m, no := decodeFrame([]byte(`{"jsonrpc":"2.0","id":7,"result":`+result+`}`), testDepth)
	if no != nil || string(m.result) != result || string(m.id) != "7" {
		t.Fatalf("%s %s %v", m.id, m.result, no)
	}
	m, no = decodeFrame([]byte(`{"jsonrpc":"2.0","id":7,"error":{"data":`+data+`,"code":-1,"message":"m"}}`), testDepth)
	if no != nil || string(m.rpc.Data) != data || m.rpc.Code != -1 {
		t.Fatalf("%+v %v", m.rpc, no)
	}
	m, no = decodeFrame([]byte(`{"jsonrpc":"2.0","method":"a\u002fb","params":`+data+`}`), testDepth)
	if no != nil || m.method != "a/b" || string(m.params) != data {
		t.Fatalf("%+v %v", m, no)
	}
}

func TestFrameRefusalPlaces(t *testing.T) {
	t.Parallel()
	_, no := decodeFrame([]byte(`{"jsonrpc":"2.0","a":1,"a":2}`), testDepth)
	if no.Detail("offset") != int64(23) {
		t.Errorf("offset %v", no.Detail("offset"))
	}
	_, no = decodeFrame([]byte(`[[[]]]`), 2)
	if no.Name() != "limit.depth" || no.Detail("limit") != int64(2) {
		t.Errorf("%v", no)
	}
}

func TestOwnID(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{"1": true, `"1"`: false, "-1": false, "10": false, "01": false, "+1": false, "": false}
	for text, want := range tests {
		if got := rawID(text).is(1); got != want {
			t.Errorf("%s is 1: %v", text, got)
		}
	}
	if n, ok := rawID("42").own(); n != 42 || !ok {
		t.Errorf("own 42: %d %v", n, ok)
	}
	for _, text := range []string{"-0", "007", "+7", `"7"`, "99999999999999999999", ""} {
		if n, ok := rawID(text).own(); ok {
			t.Errorf("own %s: %d", text, n)
		}
	}
}

func TestResultLimit(t *testing.T) {
	t.Parallel()
	for size, want := range map[int]bool{99: true, 100: true, 101: false} {
		no := checkResult(make([]byte, size), 100)
		if (no == nil) != want {
			t.Errorf("%d bytes: %v", size, no)
		}
		if no != nil && (no.Name() != "limit.result" || no.Detail("limit") != int64(100)) {
			t.Errorf("%v", no)
		}
	}
}

// FuzzFrame holds: what is accepted has its values inside the frame, byte for byte; what is refused has a name and
// gives no message.
func FuzzFrame(f *testing.F) {
	for _, v := range frameVectors(f) {
		f.Add(v.Data)
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		before := bytes.Clone(frame)
		m, no := decodeFrame(frame, testDepth)
		if !bytes.Equal(before, frame) {
			t.Fatal("the frame was written to")
		}
		if no != nil {
			if _, ok := refusal.Lookup(no.Name()); !ok || m.kind != 0 || m.result != nil || m.rpc != nil {
				t.Fatalf("%v with %+v", no, m)
			}
			return
		}
		checkAccepted(t, m, frame)
	})
}

func checkAccepted(t *testing.T, m message, frame []byte) {
	values := [][]byte{m.id, m.params, m.result}
	if m.rpc != nil {
		values = append(values, m.rpc.Data)
	}
	for _, v := range values {
		if v != nil && !within(v, frame) {
			t.Fatalf("%q is not a slice of the frame", v)
		}
	}
	if m.name() == "response" && (strictjson.Kind(m.result) != '{' || m.id == nil) {
		t.Fatalf("accepted %+v", m)
	}
	if m.kind == kindRequest {
		if r, no := decodeFrame(encodeReply(m.id, m.method), testDepth); no != nil || !bytes.Equal(r.id, m.id) {
			t.Fatalf("the reply to %q: %v", m.id, no)
		}
	}
}

// within reports whether v is a slice of the frame's memory.
func within(v, frame []byte) bool {
	for i := range frame {
		if &frame[i] == &v[0] {
			return i+len(v) <= len(frame)
		}
	}
	return false
}
