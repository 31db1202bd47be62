package main

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// table is the results as Markdown. Times are in milliseconds.
func table(results []result, old bool) string {
	head := []string{"what", "limit", "goal", "limit ms", "old ms", "new ms", "old", "new", "elapsed ms: limit", "old", "new", "peak MB: limit", "old", "new", ""}
	lines := [][]string{head}
	for _, r := range results {
		ratio := times(r.new.cpu, r.limit.cpu)
		if r.row.limit == "" {
			ratio = times(r.new.cpu, r.old.cpu)
		}
		lines = append(lines, []string{r.row.name, r.row.limit, r.row.goal,
			millis(r.limit.cpu), millis(r.old.cpu), millis(r.new.cpu), times(r.old.cpu, r.limit.cpu), ratio,
			millis(r.limit.wall), millis(r.old.wall), millis(r.new.wall),
			megabytes(r.limit.peak), megabytes(r.old.peak), megabytes(r.new.peak), r.note()})
	}
	if !old {
		for i, line := range lines {
			lines[i] = append(append(append([]string{}, line[:4]...), line[5], line[7], line[8]), append([]string{line[10], line[11]}, line[13:]...)...)
		}
	}
	return "Processor time of whole processes, medians; old and new in times the limit, or the old one where there is no limit.\n\n" + markdown(lines)
}

// note is the row's last column.
func (r result) note() string {
	var parts []string
	if r.row.memory && r.world.log > 0 && r.new.peak > 0 {
		text := fmt.Sprintf("memory %.1f × the log of %.1f MB", float64(r.new.peak)/float64(r.world.log), float64(r.world.log)/1e6)
		if r.old.peak > 0 {
			text += fmt.Sprintf(", old %.1f ×", float64(r.old.peak)/float64(r.world.log))
		}
		parts = append(parts, text+" (goal 6 ×)")
	}
	if r.row.perSecond {
		parts = append(parts, "pushes a second: "+perSecond(r.limit.wall)+" without the gate, "+perSecond(r.new.wall)+" with it")
		if r.old.wall > 0 {
			parts = append(parts, "old "+perSecond(r.old.wall))
		}
	}
	return strings.Join(append(parts, fmt.Sprintf("%d runs", r.runs)), "; ")
}

func perSecond(d time.Duration) string { return fmt.Sprintf("%.1f", float64(time.Second)/float64(d)) }

func millis(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f", float64(d)/float64(time.Millisecond))
}

func times(d, limit time.Duration) string {
	if d == 0 || limit == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f ×", float64(d)/float64(limit))
}

func megabytes(n int64) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%.0f", float64(n)/1e6)
}

// markdown aligns a table, whose first line is the head.
func markdown(lines [][]string) string {
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var out strings.Builder
	for n, line := range lines {
		for i, cell := range line {
			out.WriteString("| " + cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+1))
		}
		out.WriteString("|\n")
		if n == 0 {
			for _, width := range widths {
				out.WriteString("|" + strings.Repeat("-", width+2))
			}
			out.WriteString("|\n")
		}
	}
	return out.String()
}
