// Runs every test and closes with one line that a person or a machine can read: `N passed, N failed`.
import { spawn } from 'node:child_process'

const files = process.argv.slice(2)
const tap = spawn('npx', ['--no-install', 'tap', '--reporter=terse', '--no-color', ...files], {
  stdio: ['ignore', 'pipe', 'inherit'],
})

let tail = ''
tap.stdout.on('data', (chunk) => {
  process.stdout.write(chunk)
  tail = (tail + chunk).slice(-65536)
})
tap.on('close', (code) => {
  const totals = [...tail.matchAll(/^# \{([^}]*)\}/gm)].at(-1)?.[1] ?? ''
  const count = (name) => Number(new RegExp(`\\b${name}: (\\d+)`).exec(totals)?.[1] ?? 0)
  // A run that ended badly without a failed assertion (a crash, a time-out) is a failure all the same.
  const failed = Math.max(count('fail'), code === 0 ? 0 : 1)
  const skipped = count('skip') + count('todo')
  console.log(`${count('pass')} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`)
  process.exit(failed > 0 || count('pass') === 0 ? 1 : 0)
})
