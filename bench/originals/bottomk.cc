// The two benchmarks of the article's program, which has a main for one of them at a time.
#include "shingle.h"

int main() {
  BenchmarkShingling();
  BenchmarkJaccard();
}
