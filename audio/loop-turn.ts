/**
 * Divides long work into steps, and shares the event loop's turns among all requests. However many requests have
 * such work, a turn has one large step, or small steps up to the same cost, and then sockets are served.
 */

type Waiting = { cost: number; begin: () => void }

const waiting: Waiting[] = []
let used = 0
let isScheduled = false

/**
 * Takes a part of a turn, from 0 to 1. Returns null if the step may begin now, or else a promise for its turn. A request
 * waits for one step at a time, so the queue is as long as there are requests.
 */
export function loopTurn(cost = 1): Promise<void> | null {
  if (waiting.length === 0 && hasRoom(cost)) {
    use(cost)
    return null
  }
  return new Promise((resolve) => waiting.push({ cost, begin: resolve }))
}

const hasRoom = (cost: number) => used === 0 || used + cost <= 1

function use(cost: number): void {
  used += cost
  if (isScheduled) return
  isScheduled = true
  setImmediate(nextTurn)
}

function nextTurn(): void {
  isScheduled = false
  used = 0
  for (let first = waiting[0]; first !== undefined && hasRoom(first.cost); first = waiting[0]) {
    waiting.shift()
    use(first.cost)
    first.begin()
  }
}
