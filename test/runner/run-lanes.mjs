// Runs lanes side by side, each in a process. Prints a table with each lane's time, and then the failures. The last
// line is for people and machines: `N passed, N failed` over all lanes.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { lanes } from './lanes.mjs'
import { prepareStore } from './prepared-store.mjs'

/** Only this many failures are shown, because a tool that reads a long output often keeps only its last lines. */
const failuresShownMax = 20

/** Lets bash print at the end how long the lane and its children took: in elapsed seconds and in processor seconds. */
const timed = 'TIMEFORMAT="lane-time %R %U %S"; time { eval "$1"; }'

/** Runs the stages. Resolves with the exit code. */
export async function runLanes(stages) {
  const store = await prepareStore()
  const env = { ...process.env, ...store.env }
  const isAlone = stages.flat(2).length === 1
  const results = []
  const runRow = async (names) => {
    for (const name of names) results.push(await runLane(name, env, isAlone ? '' : `${name.padEnd(8)} | `))
  }
  for (const rows of stages) await Promise.all(rows.map(runRow))
  await store.remove()
  return conclude(results)
}

async function runLane(name, env, prefix) {
  const { command = `node test/run.mjs --lane=${name}` } = lanes[name]
  const child = spawn('bash', ['-c', timed, 'lane', command], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const result = { name, files: 0, tests: 0, pass: 0, fail: 0, skip: 0, wallS: 0, cpuS: 0, failures: [] }
  const take = (line) => {
    const time = /^lane-time ([\d.]+) ([\d.]+) ([\d.]+)$/.exec(line)
    if (time) Object.assign(result, { wallS: Number(time[1]), cpuS: Number(time[2]) + Number(time[3]) })
    else console.log(`${prefix}${line}`)
    if (line.startsWith('failed: ')) result.failures.push(line)
    const counted = /^(\d+) files, (\d+) tests$/.exec(line)
    if (counted) Object.assign(result, { files: Number(counted[1]), tests: Number(counted[2]) })
    const ended = /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?/.exec(line)
    if (ended) [result.pass, result.fail, result.skip] = ended.slice(1).map((text) => Number(text ?? 0))
  }
  for (const input of [child.stdout, child.stderr]) createInterface(input).on('line', take)
  const [code, signal] = await new Promise((resolve) => child.on('close', (...how) => resolve(how)))
  if (code !== 0 && result.fail === 0) {
    result.fail = 1
    result.failures.push(`failed: lane ${name}: it ended with ${signal ?? code}`)
  }
  return result
}

function conclude(results) {
  const titles = ['lane', 'files', 'tests', 'failed', 'wall s', 'CPU s']
  const rows = results.map(({ name, files, tests, fail, wallS, cpuS }) => [
    name,
    ...[files, tests, fail, Math.round(wallS), Math.round(cpuS)].map(String),
  ])
  const widths = titles.map((_, column) => Math.max(...[titles, ...rows].map((row) => row[column].length)))
  const print = ([first, ...others]) =>
    console.log([first.padEnd(widths[0]), ...others.map((text, at) => text.padStart(widths[at + 1]))].join('  '))
  console.log()
  for (const row of [titles, ...rows]) print(row)
  for (const failure of results.flatMap(({ failures }) => failures).slice(0, failuresShownMax)) console.log(failure)
  const sum = (column) => results.reduce((total, result) => total + result[column], 0)
  const [pass, fail, skip] = ['pass', 'fail', 'skip'].map(sum)
  console.log(`${pass} passed, ${fail} failed${skip > 0 ? `, ${skip} skipped` : ''}`)
  return fail > 0 || pass === 0 ? 1 : 0
}
