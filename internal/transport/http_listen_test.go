package transport

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"

	"mcpc/internal/refusal"
)

func TestListen(t *testing.T) {
	t.Parallel()
	note := eventOf(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
	rows := []struct {
		name, raw string
		notes     int
		want      *refusal.Entry
	}{
		{"ends", rawStream("event: ping\ndata:\n\n" + note + note), 2, nil},
		{"ends within an event", rawStream(note + "data: {"), 1, nil},
		{"none", "HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n", 0, refusal.FeatureListen},
		{"json", rawJSON("200 OK", "{}"), 0, refusal.TransportContentType},
		{"lost", rawJSON("404 Gone", ""), 0, refusal.TransportSessionLost},
		{"sign-in", rawJSON("401 No", ""), 0, refusal.OAuthLoginRequired},
		{"method", rawJSON("403 No", ""), 0, refusal.TransportMethodRefused},
		{"busy", rawJSON("503 Busy", ""), 0, refusal.TransportStatus},
		{"redirect", "HTTP/1.1 302 Moved\r\nLocation: /x\r\n\r\n", 0, refusal.TransportRedirect},
		{"a response", rawStream(note + eventOf(resultOf(1))), 1, refusal.ProtocolID},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := newRawServer(t, always(row.raw))
			c := begun(t, s.url, nil)
			notes := 0
			f := httpFailure(t, c.Listen(t.Context(), func() {}, func(Notification) { notes++ }))
			if row.want != nil {
				wantRefusal(t, f, row.want)
			} else if f != nil {
				t.Fatal(f)
			}
			r := s.requests()[0]
			if notes != row.notes || r.verb != "GET" || r.header.Get("Accept") != streamType ||
				r.header.Get(sessionHeader) != "s1" || r.header.Get(versionHeader) != Legacy || r.body != "" {
				t.Errorf("%d notifications; request %+v", notes, r)
			}
		})
	}
}

func TestListenEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s := newRawServer(t, func(_ int, _ arrived, w net.Conn) bool {
		_, _ = io.WriteString(w, rawStream(eventOf(`{"jsonrpc":"2.0","method":"n"}`)))
		_, _ = io.Copy(io.Discard, w)
		return false
	})
	c := begun(t, s.url, nil)
	ctx, cancel := context.WithCancel(t.Context())
	f := httpFailure(t, c.Listen(ctx, func() {}, func(Notification) { cancel() }))
	wantRefusal(t, f, refusal.Interrupted)
	var l Listener = c
	if err := l.Listen(ctx, func() {}, nil); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("got %v", err)
	}
}
