// Command emptycobra is the least that a program on cobra can be: the floor for the cost of --help.
package main

import (
	"os"

	"github.com/spf13/cobra"
)

func main() {
	root := &cobra.Command{Use: "emptycobra", Short: "Nothing", Run: func(*cobra.Command, []string) {}}
	root.AddCommand(&cobra.Command{Use: "nothing", Short: "Nothing either", Run: func(*cobra.Command, []string) {}})
	if root.Execute() != nil {
		os.Exit(1)
	}
}
