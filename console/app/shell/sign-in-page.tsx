import { useTitle } from '../parts/page.tsx'
import { Mark } from './mark.tsx'
import styles from './sign-in-page.module.css'

/** The way in for people without a session. */
export function SignInPage() {
  useTitle('Sign in')
  return (
    <main className={styles.place}>
      <div className={styles.card}>
        <Mark />
        <h1>Sign in to Parley</h1>
        <p>
          Ask the operator for a session: <code>parley users session you@example.com --org NAME</code> prints a cookie.
        </p>
      </div>
    </main>
  )
}
