// Runs tests: files, or lanes (named test sets, in test/runner/lanes.mjs), or a group of lanes. CONTRIBUTING.md says
// when to use which.
//   node test/run.mjs [test|ci|all]        a group of lanes side by side; `test` if nothing is named
//   node test/run.mjs LANE…                these lanes one after another
//   node test/run.mjs FILE… [--jobs=N] [--seconds=N]   these files, N suites side by side, N seconds a file
import { groups, lanes } from './runner/lanes.mjs'
import { runFiles, runLane } from './runner/run-lane.mjs'
import { runLanes } from './runner/run-lanes.mjs'

const names = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const jobs = optionOf('jobs')
const seconds = optionOf('seconds')
const options = {
  ...(jobs && { sideBySide: Number(jobs) }),
  ...(seconds && { fileMs: Number(seconds) * 1000 }),
}
process.exit(await run())

function run() {
  const lane = optionOf('lane')
  if (lane !== undefined) return runLane(lane, options)
  if (names.some((name) => name.includes('/'))) return runFiles(names, options)
  const [group = 'test'] = names
  if (names.length <= 1 && groups[group]) return runLanes(groups[group])
  const unknown = names.find((name) => !lanes[name])
  if (unknown !== undefined) {
    console.error(`there is no lane ${unknown}; lanes: ${Object.keys(lanes).join(', ')}; groups: test, ci, all`)
    return 2
  }
  return runLanes([[names]])
}

function optionOf(name) {
  const prefix = `--${name}=`
  return process.argv.find((argument) => argument.startsWith(prefix))?.slice(prefix.length)
}
