package main

// paint colours words on a terminal. Its zero value leaves them as they are: to a pipe or a file, with NO_COLOR set to
// anything (no-color.org), and on a terminal that says it is dumb.
type paint struct{ on bool }

func (a *app) paint() paint {
	return paint{a.outTTY && a.getenv("NO_COLOR") == "" && a.getenv("TERM") != "dumb"}
}

func (c paint) in(code, s string) string {
	if !c.on || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (c paint) red(s string) string    { return c.in("31", s) }
func (c paint) green(s string) string  { return c.in("32", s) }
func (c paint) yellow(s string) string { return c.in("33", s) }
func (c paint) bold(s string) string   { return c.in("1", s) }
