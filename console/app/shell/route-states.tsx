import { type ErrorComponentProps, Link } from '@tanstack/react-router'
import { Failed, Loading } from '../parts/states.tsx'
import styles from './route-states.module.css'

export function NotFound() {
  return (
    <main className={styles.place}>
      <h1>There is no such page</h1>
      <p>
        The address may be wrong, or the page may have moved. <Link to="/">Go to the overview</Link>
      </p>
    </main>
  )
}

/** Is shown inside the frame while the page's code loads. */
export function PagePending() {
  return (
    <>
      <h1 className="unseen">Parley</h1>
      <Loading />
    </>
  )
}

export function PageFailed({ error, reset }: ErrorComponentProps) {
  return (
    <>
      <h1 className="unseen">Parley</h1>
      <Failed error={error} retry={reset} />
    </>
  )
}

/** Is shown alone while the code of a page for signed-out people loads. */
export function EntryPending() {
  return (
    <main className={styles.place}>
      <PagePending />
    </main>
  )
}

export function EntryFailed(failed: ErrorComponentProps) {
  return (
    <main className={styles.place}>
      <PageFailed {...failed} />
    </main>
  )
}
