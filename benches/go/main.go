// The Go side of the engines' benchmark: reads a task a line, measures it with text/template, writes the figures.
package main

import (
	"bytes"
	"encoding/json"
	"log"
	"os"
	"runtime"
	"text/template"
	"time"
)

// A task is the texts of one prompt, by name and in order, and what to measure of them.
type task struct {
	Operation string          `json:"operation"` // "execute" or "parse"
	Texts     [][2]string     `json:"texts"`
	Data      json.RawMessage `json:"data"`
	Millis    int             `json:"millis"`
}

// Figures of one operation, and what it printed.
type figures struct {
	Nanos       float64  `json:"nanos"`
	Allocations float64  `json:"allocations"`
	Bytes       float64  `json:"bytes"`
	Outputs     []string `json:"outputs"`
}

func parse(texts [][2]string) *template.Template {
	set := template.New("")
	for _, text := range texts {
		template.Must(set.New(text[0]).Parse(text[1]))
	}
	return set
}

func execute(set *template.Template, texts [][2]string, data any) []string {
	outputs := make([]string, 0, len(texts))
	for _, text := range texts {
		var out bytes.Buffer
		if err := set.ExecuteTemplate(&out, text[0], data); err != nil {
			log.Fatal(err)
		}
		outputs = append(outputs, out.String())
	}
	return outputs
}

// run measures an operation for the time that the task says.
func (t task) run() figures {
	var data any
	if err := json.Unmarshal(t.Data, &data); err != nil {
		log.Fatal(err)
	}
	set := parse(t.Texts)
	result := figures{Outputs: execute(set, t.Texts, data)}
	operation := func() { parse(t.Texts) }
	if t.Operation == "execute" {
		// Without the conversion of the bytes to strings, which is no part of executing.
		var out [2]bytes.Buffer
		operation = func() {
			for at, text := range t.Texts {
				out[at] = bytes.Buffer{}
				if err := set.ExecuteTemplate(&out[at], text[0], data); err != nil {
					log.Fatal(err)
				}
			}
		}
	}
	// As testing.B does, so that what the task left behind is not collected while the operation runs.
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start, times := time.Now(), 0
	for time.Since(start) < time.Duration(t.Millis)*time.Millisecond {
		for range 10 {
			operation()
		}
		times += 10
	}
	result.Nanos = float64(time.Since(start).Nanoseconds()) / float64(times)
	runtime.ReadMemStats(&after)
	result.Allocations = float64(after.Mallocs-before.Mallocs) / float64(times)
	result.Bytes = float64(after.TotalAlloc-before.TotalAlloc) / float64(times)
	return result
}

func main() {
	tasks, answers := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for tasks.More() {
		var next task
		if err := tasks.Decode(&next); err != nil {
			log.Fatal(err)
		}
		if err := answers.Encode(next.run()); err != nil {
			log.Fatal(err)
		}
	}
}
