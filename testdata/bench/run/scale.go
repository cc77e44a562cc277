package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// size is one server: how many tools, how many on a page, and how long their descriptions are.
type size struct {
	name               string
	tools, page, prose int
}

// sizes end at the default limits: 5000 tools, 256 pages, 64 MiB of snapshot.
var sizes = []size{
	{"10 tools", 10, 1000, 0},
	{"100 tools", 100, 1000, 0},
	{"1000 tools", 1000, 1000, 0},
	{"5000 tools", 5000, 1000, 0},
	{"4864 tools, 256 pages", 4864, 19, 0},
	{"5000 tools, 62 MiB", 5000, 1000, 12000},
}

const (
	grown = 2.0  // a tool among 5000 may take this many times what one among 1000 takes
	quick = 2000 // ms that a command which only reads may take, at any size
)

// scale measures what an operator does with a server of each size, and holds the growth to the number of tools.
func (b *bench) scale(n int) error {
	fmt.Printf("\n%-24s%18s%18s%18s%18s\n", "", "discover", "snapshot take", "snapshot show", "authority check")
	var thousand, most []sample
	for i, s := range sizes {
		row, err := b.sized(strconv.Itoa(i)+".json", s, n)
		if err != nil {
			return err
		}
		fmt.Printf("%-24s", s.name)
		for _, c := range row {
			fmt.Printf("%7.0f ms %5.0f MB", ms(c.wall), c.peak)
		}
		fmt.Println()
		switch s.name {
		case "1000 tools":
			thousand = row
		case "5000 tools":
			most = row
		}
		if ms(row[2].wall) > quick || ms(row[3].wall) > quick {
			return fmt.Errorf("%s: a command that only reads took over %d ms", s.name, quick)
		}
	}
	for i := range most {
		if ratio := ms(most[i].wall) / ms(thousand[i].wall); ratio > 5*grown {
			return fmt.Errorf("5 times the tools took %.1f times the time", ratio)
		}
		if ratio := most[i].peak / thousand[i].peak; ratio > 5 {
			return fmt.Errorf("5 times the tools took %.1f times the memory", ratio)
		}
	}
	return nil
}

// sized measures the commands at one size.
func (b *bench) sized(document string, s size, n int) ([]sample, error) {
	url, err := b.serve("-tools", strconv.Itoa(s.tools), "-page", strconv.Itoa(s.page), "-prose", strconv.Itoa(s.prose))
	if err != nil {
		return nil, err
	}
	defer b.stopLast()
	if _, err := output(b.mcpc("snapshot", "take", url)); err != nil {
		return nil, err
	}
	doc, err := output(b.mcpc("authority", "draft", url, "--tool", "echo", "--by", "bench"))
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(b.home, document), doc, 0o600); err != nil {
		return nil, err
	}
	var row []sample
	for _, m := range []maker{
		b.mcpc("discover", url, "--json"), b.mcpc("snapshot", "take", url),
		b.mcpc("snapshot", "show", url), b.mcpc("authority", "check", document),
	} {
		typical, err := alone(m, n)
		if err != nil {
			return nil, err
		}
		row = append(row, typical)
	}
	return row, nil
}

// alone measures a command beside nothing.
func alone(m maker, n int) (sample, error) {
	var all samples
	for range n {
		s, err := once(m())
		if err != nil {
			return sample{}, err
		}
		all = append(all, s)
	}
	return all.typical(), nil
}
