/**
 * Divides long work into steps, and shares the event loop's turns among all requests. Each turn runs one large step, or
 * small steps up to the same cost, and then the event loop serves sockets. So a turn takes equally long, however many
 * requests have long work. The steps alternate between owners, such as organizations.
 */

type Waiting = { cost: number; begin: () => void }

/** The waiting steps for each owner. The owner with the next step is the first entry. */
const waiting = new Map<string, Waiting[]>()
let used = 0
let isScheduled = false

/**
 * Reserves a fraction of a turn of the event loop for a step, from 0 to 1. Returns null if the step may begin now,
 * otherwise a promise for its turn. Each request waits for one step at a time, so the queue has at most one entry per
 * request.
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
    // Moves the owner to the map's end. The running loop reaches the owner there again.
    waiting.delete(owner)
    if (steps.length > 0) waiting.set(owner, steps)
    use(first.cost)
    first.begin()
  }
}
