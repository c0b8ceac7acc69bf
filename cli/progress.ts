/** Writes a progress line to standard error if work takes longer than a second. */
export async function withProgress<Answer>(what: string, run: () => Promise<Answer>): Promise<Answer> {
  const started = performance.now()
  const terminal = process.stderr.isTTY
  let shown = false
  const timer = setInterval(() => {
    const seconds = Math.round((performance.now() - started) / 1000)
    if (terminal) process.stderr.write(`\r${what} … ${seconds} s`)
    else if (!shown) process.stderr.write(`${what} …\n`)
    shown = true
  }, 1000)
  try {
    return await run()
  } finally {
    clearInterval(timer)
    if (shown && terminal) process.stderr.write('\r\u001b[K')
  }
}
