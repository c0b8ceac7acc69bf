/**
 * Divides long work into steps, and shares the event loop's turns among all requests. However many requests have
 * such work, a turn has one large step, or small steps up to the same cost, and then sockets are served. The owners of
 * the work, such as organizations, have their steps one after another.
 */

type Waiting = { cost: number; begin: () => void }

/** The next owner comes first. */
const waiting = new Map<string, Waiting[]>()
let used = 0
let isScheduled = false

/**
 * Takes a part of a turn, from 0 to 1. Returns null if the step may begin now, or else a promise for its turn. A request
 * waits for one step at a time, so the queue is as long as there are requests.
 */
export function loopTurn(cost = 1, owner = ''): Promise<void> | null {
  if (waiting.size === 0 && hasRoom(cost)) {
    use(cost)
    return null
  }
  return new Promise((begin) => {
    const steps = waiting.get(owner)
    if (steps) steps.push({ cost, begin })
    else waiting.set(owner, [{ cost, begin }])
  })
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
  for (const [owner, steps] of waiting) {
    const [first] = steps
    if (first === undefined || !hasRoom(first.cost)) return
    steps.shift()
    // Moves the owner to the end. The loop meets it again there.
    waiting.delete(owner)
    if (steps.length > 0) waiting.set(owner, steps)
    use(first.cost)
    first.begin()
  }
}
