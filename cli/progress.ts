/** A line on standard error for whatever takes longer than a second; nothing when standard error is no terminal and it ends sooner. */
export async function withProgress<Answer>(what: string, run: () => Promise<Answer>): Promise<Answer> {
  const started = performance.now()
  const terminal = process.stderr.isTTY
  let told = false
  const timer = setInterval(() => {
    const seconds = Math.round((performance.now() - started) / 1000)
    if (terminal) process.stderr.write(`\r${what} … ${seconds} s`)
    else if (!told) process.stderr.write(`${what} …\n`)
    told = true
  }, 1000)
  try {
    return await run()
  } finally {
    clearInterval(timer)
    if (told && terminal) process.stderr.write('\r\u001b[K')
  }
}
