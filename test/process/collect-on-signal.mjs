/** Loaded into a server under test: on SIGUSR2 it collects its garbage and says so, so that what is measured is what it holds. */
import v8 from 'node:v8'
import vm from 'node:vm'

v8.setFlagsFromString('--expose_gc')
const collect = vm.runInNewContext('gc')

process.on('SIGUSR2', () => {
  collect()
  process.stderr.write('garbage is collected\n')
})
