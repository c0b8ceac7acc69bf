/** One test suite is the contract for all HTTP engines. It runs over each engine that loads on this machine. */
import type { Test } from 'tap'
import type { EngineName } from '../../runtime/engine/options.ts'
import { loadUws } from '../../runtime/listeners/uws/load.ts'
import { chooseEngine } from '../../runtime/server/choose.ts'

/** On Debian 13 all tests run over one engine, named by this variable, so this engine must load. */
const only = (process.env['PARLEY_TEST_ENGINE'] ?? null) as EngineName | null
const usual = only ?? chooseEngine('auto').engine

/**
 * The HTTP engine for the server of a test. Both variables change while overEngines() runs, and tests run one after
 * another.
 */
export let engine: EngineName = usual
/** The engine setting for the server of a test. Null: the server has no such setting. */
export let engineAsked: EngineName | null = only

/** Runs the tests in `suite` for each engine. */
export function overEngines(t: Test, suite: (t: Test, engine: EngineName) => void | Promise<void>): void {
  const names = only === null ? (['uws', 'node'] as const) : [only]
  for (const name of names) {
    t.test(name, { skip: only === null && problemOf(name) }, async (t) => {
      engine = engineAsked = name
      t.teardown(() => {
        engine = usual
        engineAsked = only
      })
      await suite(t, name)
    })
  }
}

function problemOf(name: EngineName): string | false {
  const loaded = loadUws()
  return name === 'uws' && 'problem' in loaded && loaded.problem
}
