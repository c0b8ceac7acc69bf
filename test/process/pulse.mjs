/** Runs in a thread of attacked-server.ts, and sends small requests all the time. */
import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

for (;;) {
  const startedMs = performance.now()
  await (await fetch(`${workerData}/healthz`)).text()
  parentPort.postMessage(performance.now() - startedMs)
  await sleep(20)
}
