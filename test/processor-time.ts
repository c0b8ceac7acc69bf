/**
 * Returns the processor time for `work`, in milliseconds. Tests judge cheap work by this time, because on a busy
 * machine the elapsed time also includes other processes.
 */
export function processorMs(work: () => void): number {
  const startedUs = process.cpuUsage().user
  work()
  return (process.cpuUsage().user - startedUs) / 1000
}
