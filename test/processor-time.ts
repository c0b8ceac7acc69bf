/**
 * The processor time for `work`, in milliseconds. Cheap work is judged by this time, because on a busy machine the
 * clock also counts other processes.
 */
export function processorMs(work: () => void): number {
  const startedUs = process.cpuUsage().user
  work()
  return (process.cpuUsage().user - startedUs) / 1000
}
