// Command stdioserver is the measuring peer over stdio. With -log it appends the name of every method it gets to a
// file, so that messages can be counted.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"mcpc/testdata/bench/peer"
)

func main() {
	tools := flag.Int("tools", 10, "how many tools")
	page := flag.Int("page", 1000, "how many tools a page")
	prose := flag.Int("prose", 0, "how many bytes more a description has")
	log := flag.String("log", "", "append the method of each message to this file")
	flag.Parse()
	if err := serve(peer.New(*tools, *page, *prose), *log); err != nil {
		fmt.Fprintln(os.Stderr, "stdioserver:", err)
		os.Exit(1)
	}
}

func serve(p *peer.Peer, log string) error {
	in := bufio.NewReaderSize(os.Stdin, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return nil // the client hung up, which is how it says goodbye
		}
		if err := note(log, line); err != nil {
			return err
		}
		if answer := p.Answer(line); answer != nil {
			if _, err := os.Stdout.Write(answer); err != nil {
				return err
			}
		}
	}
}

func note(path string, line []byte) error {
	if path == "" {
		return nil
	}
	var m struct{ Method string }
	if err := json.Unmarshal(line, &m); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = fmt.Fprintln(f, m.Method)
	return err
}
