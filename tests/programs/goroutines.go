// Goroutines, channels, a mutex, maps, the garbage collector, time: what a Go program does to a kernel.
package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"sort"
	"strings"
	"sync"
	"time"
)

func worker(jobs <-chan int, results chan<- int, wg *sync.WaitGroup) {
	defer wg.Done()
	for n := range jobs {
		sum := 0
		for i := 0; i < 1000; i++ {
			sum += i * n % 7
		}
		results <- sum
	}
}

func garbage() int {
	kept := map[string][]byte{}
	for i := 0; i < 20000; i++ {
		kept[fmt.Sprint(i%100)] = make([]byte, 1000)
	}
	runtime.GC()
	return len(kept)
}

func main() {
	jobs, results := make(chan int), make(chan int, 10)
	var wg sync.WaitGroup
	for i := 0; i < 100; i++ {
		wg.Add(1)
		go worker(jobs, results, &wg)
	}
	go func() {
		for i := 0; i < 1000; i++ {
			jobs <- i
		}
		close(jobs)
		wg.Wait()
		close(results)
	}()
	sum := 0
	for r := range results {
		sum += r
	}
	fmt.Println("sum", sum)
	fmt.Println("kept", garbage())
	start := time.Now()
	time.Sleep(20 * time.Millisecond)
	select {
	case <-time.After(10 * time.Millisecond):
	}
	fmt.Println("slept", time.Since(start) >= 30*time.Millisecond)
	func() {
		defer func() { fmt.Println("recovered:", recover()) }()
		var p *int
		*p = 1
	}()
	words := strings.Fields("the quick brown fox")
	sort.Strings(words)
	text, _ := json.Marshal(map[string]interface{}{"words": words, "n": 3})
	fmt.Printf("%s %x\n", text, sha256.Sum256(text))
	if _, err := os.Open("/no/such/file"); err != nil {
		fmt.Println(err)
	}
	os.Exit(5)
}
