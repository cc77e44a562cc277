package main

import (
	"cmp"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// comparison is one row of the table: ours beside another's, and the ratios that we wish for (0 for none).
type comparison struct {
	name        string
	ours, other maker
	n           int
	wall, peak  float64
}

// measure runs both sides in turn and prints the medians.
func (c comparison) measure() error {
	var ours, other samples
	for i := range c.n + 2 {
		for _, side := range []struct {
			make maker
			into *samples
		}{{c.ours, &ours}, {c.other, &other}} {
			s, err := once(side.make())
			if err != nil {
				return err
			}
			if i >= 2 { // the first two warm the caches
				*side.into = append(*side.into, s)
			}
		}
	}
	row := func(label, unit string, wish float64, of func(sample) float64) {
		a, b := ours.median(of), other.median(of)
		want := ""
		if wish > 0 {
			want = fmt.Sprintf("%.2f", wish)
		}
		fmt.Printf("%-28s%-6s%9.1f %s%9.1f %s%8.2f%8s\n", label, unit, a, unitOf(unit), b, unitOf(unit), a/b, want)
	}
	row(c.name, "wall", c.wall, func(s sample) float64 { return ms(s.wall) })
	row("", "cpu", 0, func(s sample) float64 { return ms(s.cpu) })
	row("", "peak", c.peak, func(s sample) float64 { return s.peak })
	return nil
}

func unitOf(row string) string {
	if row == "peak" {
		return "MB"
	}
	return "ms"
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// sample is one run.
type sample struct {
	wall, cpu time.Duration
	peak      float64 // MB of the largest process
}

type samples []sample

func (s samples) median(of func(sample) float64) float64 {
	values := make([]float64, len(s))
	for i, one := range s {
		values[i] = of(one)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// typical is the sample of the median wall time.
func (s samples) typical() sample {
	sorted := slices.SortedFunc(slices.Values(s), func(a, b sample) int { return cmp.Compare(a.wall, b.wall) })
	return sorted[len(sorted)/2]
}

// once runs a command without keeping its output, which would count as our memory and then as its.
func once(cmd *exec.Cmd) (sample, error) {
	began := time.Now()
	err := cmd.Run()
	wall := time.Since(began)
	if err != nil {
		return sample{}, fmt.Errorf("%v: %w", cmd.Args, err)
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return sample{}, errors.New("this platform does not say what a process used")
	}
	return sample{wall, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), float64(usage.Maxrss) * 1024 / 1e6}, nil
}
