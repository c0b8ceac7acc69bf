import { type ErrorComponentProps, Link } from '@tanstack/react-router'
import { Failed } from '../parts/states.tsx'
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

export function RouteFailed({ error, reset }: ErrorComponentProps) {
  return <Failed error={error} retry={reset} />
}
