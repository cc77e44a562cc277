// Command benchserver is the measuring peer over HTTP. It prints its URL, and counts the requests it gets: GET /count
// says how many there were since the last GET /count.
package main

import (
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"mcpc/testdata/bench/peer"
)

func main() {
	tools := flag.Int("tools", 10, "how many tools")
	page := flag.Int("page", 1000, "how many tools a page")
	prose := flag.Int("prose", 0, "how many bytes more a description has")
	flag.Parse()
	if err := serve(peer.New(*tools, *page, *prose)); err != nil {
		fmt.Fprintln(os.Stderr, "benchserver:", err)
		os.Exit(1)
	}
}

func serve(p *peer.Peer) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	var count atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("GET /count", func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, count.Swap(0)) })
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		count.Add(1)
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		answer := p.Answer(body)
		if answer == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer)
	})
	fmt.Printf("http://%s/mcp\n", l.Addr())
	return (&http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}).Serve(l)
}
