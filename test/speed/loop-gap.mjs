/**
 * Loaded into a running Parley by NODE_OPTIONS: measures how long its event loop stands still. At LOOP_GAP_PORT it
 * serves the longest gap since the last request.
 *
 * A gap counts only as long as the loop's thread used the CPU, because a busy machine sometimes suspends a thread.
 * Before Node 24 only Linux knows one thread's time. Elsewhere the time includes all threads.
 */
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'

const tickMs = 1
const schedulerFile = '/proc/thread-self/schedstat'
const cpuMs = chosenClock()

function chosenClock() {
  const usage = process.threadCpuUsage?.bind(process) ?? process.cpuUsage.bind(process)
  const isOfLinux = process.threadCpuUsage === undefined && existsSync(schedulerFile)
  if (isOfLinux) return () => Number.parseInt(readFileSync(schedulerFile, 'latin1'), 10) / 1e6
  return () => {
    const { user, system } = usage()
    return (user + system) / 1000
  }
}

if (process.env.LOOP_GAP_PORT && process.argv[1]?.endsWith('main.js')) {
  const port = Number(process.env.LOOP_GAP_PORT)
  // Child processes of this process must not use the port too.
  delete process.env.LOOP_GAP_PORT
  let longestMs = 0
  let [lastMs, lastCpuMs] = [performance.now(), cpuMs()]
  setInterval(() => {
    const gapMs = Math.min(performance.now() - lastMs, cpuMs() - lastCpuMs) - tickMs
    longestMs = Math.max(longestMs, gapMs)
    lastMs = performance.now()
    lastCpuMs = cpuMs()
  }, tickMs).unref()
  createServer((_request, response) => {
    response.end(String(longestMs))
    longestMs = 0
  })
    .listen(port, '127.0.0.1')
    .unref()
}
