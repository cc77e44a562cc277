// Command browser follows redirects, which is all that a sign-in page without a person needs. It is given as $BROWSER
// and knows nothing of OAuth: it asks for the URL, goes where it is sent, and reads the last page.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: browser URL")
		os.Exit(2)
	}
	client := http.Client{Timeout: 30 * time.Second}
	page, err := client.Get(os.Args[1])
	if err != nil {
		os.Exit(1) // the error would repeat the URL, which is nobody's business
	}
	defer page.Body.Close()
	_, _ = io.Copy(io.Discard, page.Body)
}
