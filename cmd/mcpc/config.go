package main

import (
	"fmt"
	"sort"
	"strings"

	"github.com/spf13/cobra"

	"mcpc/internal/config"
	"mcpc/internal/strictjson"
)

const configLong = `The configuration says which servers there are, how they are reached, and where
their secrets come from. It never holds a secret, and it is never looked for in
the working directory.`

func newConfig(a *app) *cobra.Command {
	check := &cobra.Command{
		Use:   "check [FILE]",
		Short: "Read the configuration strictly and say what is in it",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage(cmd, "%s is one word too many", args[1])
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.checkConfig(args) },
	}
	path := &cobra.Command{
		Use:   "path",
		Short: "Print where the configuration is read from",
		Args:  exactly(),
		RunE: func(*cobra.Command, []string) error {
			file, err := a.configFile()
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(strictjson.Quote(file))
			}
			p := a.page()
			p.line(p.safe(file))
			return p.flush()
		},
	}
	return group("config", "Check the configuration, find it, or import another program's", configLong, check, path, newConfigImport(a))
}

func (a *app) checkConfig(args []string) error {
	path, err := a.configFile()
	if err != nil {
		return err
	}
	if len(args) == 1 {
		path = args[0]
	}
	c, err := config.Load(path)
	if err != nil {
		return err
	}
	names := make([]string, 0, len(c.Servers))
	for name := range c.Servers {
		names = append(names, name)
	}
	sort.Strings(names)
	if a.json {
		return a.printJSON(configDocument(c, names))
	}
	p := a.page()
	p.linef("%s   %s", p.safe(path), plural(len(names), "server"))
	rows := make([][]string, len(names))
	for i, name := range names {
		rows[i] = []string{"  " + p.safe(name), p.safe(place(c.Servers[name]))}
	}
	p.rows(rows)
	return p.flush()
}

func configDocument(c *config.Config, names []string) []byte {
	servers := make([]string, len(names))
	for i, name := range names {
		kind := "stdio"
		if c.Servers[name].HTTP != nil {
			kind = "http"
		}
		servers[i] = fmt.Sprintf(`{"name":%s,"transport":%q}`, strictjson.Quote(name), kind)
	}
	return fmt.Appendf(nil, `{"mcpc":"config/1","path":%s,"servers":[%s]}`, strictjson.Quote(c.Path), strings.Join(servers, ","))
}
