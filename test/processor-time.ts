/**
 * The milliseconds of a processor that `work` takes. Work that must be cheap is judged by them, because on a busy machine
 * the clock also counts the work of other processes.
 */
export function processorMs(work: () => void): number {
  const startedUs = process.cpuUsage().user
  work()
  return (process.cpuUsage().user - startedUs) / 1000
}
