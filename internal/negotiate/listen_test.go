package negotiate

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"mcpc/internal/config"
	"mcpc/internal/refusal"
	"mcpc/internal/transport"
)

var (
	changed = notification("notifications/tools/list_changed", `{"_meta":{"io.modelcontextprotocol/subscriptionId":1}}`)
	granted = notification("notifications/subscriptions/acknowledged", `{"notifications":{"toolsListChanged":true}}`)
	denied  = notification("notifications/subscriptions/acknowledged", `{"notifications":{"toolsListChanged":false}}`)
	without = notification("notifications/subscriptions/acknowledged", `{"notifications":{}}`)
)

func listening(s step, notes ...transport.Notification) step {
	s.method, s.notes = "subscriptions/listen", notes
	return s
}

func TestListenModern(t *testing.T) {
	t.Parallel()
	const closed = `{"resultType":"complete"}`
	tests := map[string]struct {
		step step
		want string
		told int
	}{
		"closed by the server": {listening(result("", closed), granted, changed, changed), "", 2},
		"before it is granted": {listening(result("", closed), changed, granted, changed), "", 1},
		"other notifications": {
			listening(result("", closed), granted, notification("notifications/message", `{}`)), "", 0,
		},
		"not granted":             {listening(silent(""), denied, changed), "feature.listen", 0},
		"granted without tools":   {listening(silent(""), without, changed), "feature.listen", 0},
		"never granted":           {listening(silent("")), "feature.listen", 0},
		"an error":                {listening(rpcError("", 404, -32601, "")), "feature.listen", 0},
		"an error without status": {listening(rpcError("", 0, -32601, "")), "feature.listen", 0},
		"a status alone":          {listening(step{fail: &transport.Failure{Refusal: refusal.New(refusal.TransportStatus), Status: 404}}), "feature.listen", 0},
		"a status that may pass":  {listening(step{fail: &transport.Failure{Refusal: refusal.New(refusal.TransportStatus), Status: 503}}), "transport.status", 0},
		"a result at once":        {listening(result("", closed)), "feature.listen", 0},
		"the stream breaks": {
			listening(step{fail: failure(refusal.TransportClosed, transport.CauseConnection)}, granted, changed),
			"transport.closed", 1,
		},
		"401": {listening(bearer("", 401)), "oauth.login_required", 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, _ := resume(t, httpServer(), transport.Modern, test.step)
				told := 0
				err := s.Listen(t.Context(), nil, func() { told++ })
				if got := refusalName(err); got != test.want || told != test.told {
					t.Errorf("%q, told %d; want %q, %d", got, told, test.want, test.told)
				}
			})
		})
	}
}

func refusalName(err error) string {
	if no, ok := refusal.As(err); ok {
		return no.Name()
	}
	return ""
}

// A subscription that is granted has no deadline.
func TestListenHoldsOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _ := resume(t, stdioServer(), transport.Modern, listening(silent(""), granted))
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(48*time.Hour, cancel)
		if err := s.Listen(ctx, nil, nil); !refusal.Is(err, refusal.Interrupted) {
			t.Error(err)
		}
	})
}

func TestListenLegacyPipe(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ping := result("ping", `{}`)
		ping.notes = []transport.Notification{changed, notification("notifications/message", `{}`)}
		s, _ := resume(t, stdioServer(), transport.Legacy, ping, rpcError("ping", 0, -32601, ""), ping, exited("ping"))
		told := 0
		if err := s.Listen(t.Context(), nil, func() { told++ }); !refusal.Is(err, refusal.TransportExited) || told != 2 {
			t.Error(err, told)
		}
	})
}

func TestListenLegacyNotOffered(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		server *config.Server
		init   string
	}{
		"http":                     {httpServer(), initLegacy},
		"stdio without capability": {stdioServer(), `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}`},
		"stdio with a capability that is no boolean": {
			stdioServer(), `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":"true"}}}`,
		},
	}
	for name, test := range tests {
		s, err := Resume(t.Context(), fake(t, inits(test.init)).dialer(), test.server, me, transport.Legacy)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Listen(t.Context(), nil, nil); !refusal.Is(err, refusal.FeatureListen) {
			t.Error(name, err)
		}
	}
}

// speaking is a carrier with a stream of the server's own.
type speaking struct {
	*fakeCarrier
	notes []transport.Notification
	ends  []error // one for each time that it is listened to
}

func (s *speaking) Listen(_ context.Context, onOpen func(), note func(transport.Notification)) error {
	onOpen()
	for _, n := range s.notes {
		note(n)
	}
	end := s.ends[0]
	s.ends = s.ends[1:]
	return end
}

func TestListenLegacyStream(t *testing.T) {
	t.Parallel()
	lost := failure(refusal.TransportSessionLost, "")
	tests := map[string]struct {
		init string
		ends []error
		want []string
	}{
		"ends":                   {initLegacy, []error{nil}, []string{""}},
		"breaks":                 {initLegacy, []error{failure(refusal.TransportClosed, "")}, []string{"transport.closed"}},
		"not known":              {initLegacy, []error{lost}, []string{"feature.listen"}},
		"forgotten after a time": {initLegacy, []error{nil, lost}, []string{"", "transport.session_lost"}},
		"not announced": {
			`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}`, nil, []string{"feature.listen"},
		},
	}
	for name, test := range tests {
		carrier := &speaking{fake(t, inits(test.init)), []transport.Notification{changed, denied}, test.ends}
		dial := func(context.Context) (transport.Carrier, error) { return carrier, nil }
		s, err := Resume(t.Context(), dial, httpServer(), me, transport.Legacy)
		if err != nil {
			t.Fatal(err)
		}
		opened, told := 0, 0
		for _, want := range test.want {
			if got := refusalName(s.Listen(t.Context(), func() { opened++ }, func() { told++ })); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		if told != len(test.ends) || opened != len(test.ends) {
			t.Errorf("%s: opened %d times, told %d times", name, opened, told)
		}
	}
}
