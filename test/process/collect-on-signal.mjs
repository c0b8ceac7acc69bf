/**
 * Loaded into a server under test: on SIGUSR2 it collects garbage and reports it, so the test measures only live
 * memory.
 */
import v8 from 'node:v8'
import vm from 'node:vm'

v8.setFlagsFromString('--expose_gc')
const collect = vm.runInNewContext('gc')

process.on('SIGUSR2', () => {
  collect()
  process.stderr.write('garbage is collected\n')
})
