package main

import (
	"bytes"
	"context"
	"flag"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"mcpc/internal/strictjson"
)

// typeScript is the folder with the servers on the TypeScript SDK. They need Node and its packages, so they are among
// the peers only when make peers asks for them.
var typeScript = flag.String("typescript", "", "also talk to the servers of this folder, which needs node")

// sdkPeer is a server on somebody's SDK: how it is started, and what it speaks.
type sdkPeer struct {
	name     string
	command  []string
	protocol string
	http     bool // it prints its URL, in place of speaking on stdout
	silent   bool // it answers with one JSON body, where there is no room for progress
}

// sdkPeers are both eras over both carriers, each SDK in each way that it can answer.
func sdkPeers(t *testing.T) (peers []sdkPeer) {
	station := filepath.Join(t.TempDir(), "station"+map[bool]string{true: ".exe"}[runtime.GOOS == "windows"])
	if out, err := exec.Command("go", "build", "-o", station, "mcpc/testdata/demoserver").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for era, protocol := range map[string]string{"modern": "2026-07-28", "legacy": "2025-11-25"} {
		goSDK := []string{station, "-page", "4", "-era", era}
		listening := append(slices.Clone(goSDK), "-http", "127.0.0.1:0")
		peers = append(peers,
			sdkPeer{name: "go stdio " + era, command: goSDK, protocol: protocol},
			sdkPeer{name: "go stream " + era, command: listening, protocol: protocol, http: true},
			sdkPeer{name: "go body " + era, command: append(slices.Clone(listening), "-json"), protocol: protocol, http: true, silent: true},
		)
		for _, script := range []string{"server-1.mjs", "server-2.mjs"} {
			if *typeScript == "" || script == "server-1.mjs" && era == "modern" {
				continue // the 1.x line speaks the legacy era alone
			}
			node := []string{"node", filepath.Join(*typeScript, script)}
			peers = append(peers,
				sdkPeer{name: script + " stdio " + era, command: append(slices.Clone(node), "stdio", era), protocol: protocol},
				sdkPeer{name: script + " stream " + era, command: append(slices.Clone(node), "http", era, "sse"), protocol: protocol, http: true},
				sdkPeer{name: script + " body " + era, command: append(slices.Clone(node), "http", era, "json"), protocol: protocol, http: true, silent: true},
			)
		}
	}
	return peers
}

// TestSDKPeers: whatever SDK a server is built on, what it sent is what mcpc prints.
func TestSDKPeers(t *testing.T) {
	t.Parallel()
	for _, p := range sdkPeers(t) {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			f := newField(t)
			w := &wire{news: make(chan struct{}, 1)}
			if p.http {
				f.http(w.proxy(f, p.command), "")
			} else {
				f.config(`{"stdio":{"command":[` + w.tap(f, p.command) + `],"env":["PATH"]}}`)
			}
			listsAsSent(f, p, w)
			callsAsSent(f, w)
			reportsProgress(f, p, w)
			isCancelled(f, p, w)
		})
	}
}

// listsAsSent discovers the server: every descriptor of every page, byte for byte.
func listsAsSent(f *field, p sdkPeer, w *wire) {
	found := []byte(f.done("discover", "s").stdout)
	if got := strictjson.MemberText(found, "protocol"); got != p.protocol {
		f.Errorf("the protocol is %s", got)
	}
	var sent [][]byte
	pages := 0
	for _, frame := range w.frames(fromServer) {
		result, _ := strictjson.Member(frame, "result")
		if tools, ok := strictjson.Member(result, "tools"); ok {
			pages++
			for _, descriptor := range strictjson.Elements(tools) {
				sent = append(sent, descriptor)
			}
		}
	}
	tools, _ := strictjson.Member(found, "tools")
	n := 0
	for i, tool := range strictjson.Elements(tools) {
		descriptor, _ := strictjson.Member(tool, "descriptor")
		if n++; i >= len(sent) || !bytes.Equal(descriptor, sent[i]) {
			f.Errorf("tool %d is %s", i, descriptor)
		}
	}
	if n != len(sent) || pages < 3 {
		f.Errorf("%d tools of %d, on %d pages", n, len(sent), pages)
	}
}

// lastContent is the last result of a call among the frames. A server may say other things of its own after it.
func lastContent(frames [][]byte) []byte {
	for _, frame := range slices.Backward(frames) {
		result, _ := strictjson.Member(frame, "result")
		if _, ok := strictjson.Member(result, "content"); ok {
			return result
		}
	}
	return nil
}

// callsAsSent calls every kind of content: the result, byte for byte.
func callsAsSent(f *field, w *wire) {
	f.pin("greet", "forecast", "radar", "chime", "manual", "sky_hologram", "read_sensor", "take_readings", "wait")
	for _, c := range []struct {
		words []string
		exit  int
		has   string
	}{
		{[]string{"greet", "name=Ana ☂"}, 0, `"text"`},
		{[]string{"forecast", "town=Rye"}, 0, `"structuredContent"`},
		{[]string{"radar"}, 0, `"image"`},
		{[]string{"chime"}, 0, `"audio"`},
		{[]string{"manual"}, 0, `"resource"`},
		{[]string{"sky_hologram"}, 0, `"hologram"`},
		{[]string{"take_readings", "steps=3"}, 0, `"text"`},
		{[]string{"read_sensor", "sensor=7"}, 1, `"isError"`},
	} {
		end := f.call(c.words...)
		sent := lastContent(w.frames(fromServer))
		if end.exit != c.exit || end.stdout != string(sent)+"\n" || !strings.Contains(end.stdout, c.has) {
			f.Errorf("%v: exit %d, %s; sent was %s\n%s", c.words, end.exit, end.stdout, sent, end.stderr)
		}
	}
	end := f.call("read_sensor", "sensor=-1")
	if end.exit != 5 || end.refusal != "protocol.error" || strings.Contains(end.stderr, "harbour") {
		f.Errorf("an error: exit %d, %s", end.exit, end.stderr)
	}
	f.wantDetail(end, "code", -32602)
}

// reportsProgress makes a call at a terminal, where progress is asked for and shown.
func reportsProgress(f *field, p sdkPeer, w *wire) {
	before := len(w.frames(fromServer))
	_, stderr := f.onTerminals("call", "s", "take_readings", "steps=3", "--authority", filepath.Join(f.home, "authority.json"))
	reports := 0
	for _, frame := range w.frames(fromServer)[before:] {
		if strictjson.MemberText(frame, "method") == "notifications/progress" {
			reports++
		}
	}
	switch {
	case p.silent:
	case reports != 3 || !strings.Contains(stderr, "1 of 3  sensor 1"):
		f.Errorf("%d reports of progress; the terminal shows %q", reports, stderr)
	}
}

// isCancelled interrupts a call that would take minutes, and sees that the server learns of it.
func isCancelled(f *field, p sdkPeer, w *wire) {
	ctx, interrupt := context.WithCancel(f.Context())
	go func() {
		w.await(func() bool {
			return slices.ContainsFunc(w.frames(fromClient), func(frame []byte) bool {
				params, _ := strictjson.Member(frame, "params")
				return strictjson.MemberText(params, "name") == "wait"
			})
		})
		interrupt()
	}()
	end := f.runContext(ctx, "", "--json", "call", "s", "wait", "ms=120000", "--authority", filepath.Join(f.home, "authority.json"))
	if end.refusal != "transport.outcome_unknown" || end.stdout != "" || end.took > 20*time.Second {
		f.Errorf("exit %d after %v: %s%s", end.exit, end.took, end.stdout, end.stderr)
	}
	f.wantDetail(end, "cause", "interrupted")
	told := func() bool {
		return slices.ContainsFunc(w.frames(fromClient), func(frame []byte) bool {
			return strictjson.MemberText(frame, "method") == "notifications/cancelled"
		})
	}
	if p.http && p.protocol == "2026-07-28" {
		told = w.hungUp // a modern stream is cancelled by closing it
	}
	if !w.await(told) {
		f.Error("the server was not told")
	}
}
