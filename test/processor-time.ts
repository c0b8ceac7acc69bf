/**
 * Returns the processor time for `work`, in milliseconds. Tests measure fast code by this time, because on a busy
 * machine the elapsed time also includes other processes.
 */
export function processorMs(work: () => void): number {
  const startedUs = process.cpuUsage().user
  work()
  return (process.cpuUsage().user - startedUs) / 1000
}

/**
 * Returns the least processor time of several runs. The first runs include compilations, and a busy machine makes a run
 * longer by a half, because its caches are shared.
 */
export function leastProcessorMs(work: () => void, runs = 5): number {
  return Math.min(...Array.from({ length: runs }, () => processorMs(work)))
}
