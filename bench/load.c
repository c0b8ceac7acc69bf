/*
 * The load of the socket figures: many WebSocket clients in one thread of C, because the load must cost less than the measured server.
 *
 * Every client sends the same masked binary frame once a period, each at a different time in the period, and waits for nothing:
 *
 *   frame n is client n % streams, due at start + n * period / streams
 *
 * so the whole schedule is one counter, and the due time of a client's k-th frame needs no memory. Servers answer in order, so an answer
 * belongs to the oldest unanswered frame of its client. Latency is counted from the time at which a frame was due, not from the time at
 * which it was sent: a sender that falls behind must not improve the figures of the server. A frame that did not fit into the socket or got
 * no answer counts as lost and as the worst latency. Later answers are then matched to older frames, which errs against the server.
 *
 * Simplifications: 127.0.0.1 only; no fragmented frames; the mask is constant (RFC 6455 5.3 protects proxies, and there are none here).
 *
 * load PORT PATH STREAMS PERIOD_US WARM_UP_MS MEASURE_MS PAYLOAD_BYTES [SUBPROTOCOL KEY CONFIG]
 *
 * With CONFIG each client sends it as a text frame and is open after an answer that contains "ready". Then only texts that contain
 * "transcript" are answers. Prints `open`, `start` and `stop` around the measured window, then the figures as JSON; keeps the sockets until stdin ends.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { text_opcode = 1, binary_opcode = 2, close_opcode = 8, kept_bytes = 8192, read_bytes = 65536 };
enum { bucket_us = 10, buckets = 100000, batch = 512, open_ms = 20000, stragglers_ms = 1000, goodbye_ms = 3000 };

typedef struct {
  int fd, ready, closed;
  int rest;          /* bytes of the last frame that the socket did not take */
  int64_t answered;  /* frames of this client that have an answer */
  int kept;          /* bytes of an incomplete frame, at the start of `keep` */
  unsigned char keep[kept_bytes];
} client;

static client *clients;
static int64_t streams, period_ns, due_frames, unsent, window_from, window_to, opened, closed_count;
static int64_t start_ns;
static int epoll_fd, with_config;
static unsigned char frame[16 + 65536];
static int frame_bytes;
static uint32_t latency[buckets + 1], lag[buckets + 1];

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void fail(const char *format, ...) {
  va_list values;
  va_start(values, format);
  vfprintf(stderr, format, values);
  va_end(values);
  fputc('\n', stderr);
  exit(1);
}

static int64_t due_ns(int64_t n) { return start_ns + n * period_ns / streams; }

static void note(uint32_t *histogram, int64_t ns) {
  int64_t bucket = ns / (bucket_us * 1000);
  histogram[bucket < 0 ? 0 : bucket < buckets ? bucket : buckets]++;
}

static int masked(unsigned char *out, int opcode, const unsigned char *payload, int bytes) {
  static const unsigned char mask[4] = {0x37, 0xfa, 0x21, 0x3d};
  int at = 0;
  out[at++] = 0x80 | opcode;
  if (bytes < 126) {
    out[at++] = 0x80 | bytes;
  } else {
    out[at++] = 0x80 | 126;
    out[at++] = bytes >> 8;
    out[at++] = bytes & 255;
  }
  memcpy(out + at, mask, 4);
  at += 4;
  for (int i = 0; i < bytes; i++) out[at + i] = payload[i] ^ mask[i & 3];
  return at + bytes;
}

static int send_text(client *c, const char *text) {
  unsigned char out[1024];
  int bytes = masked(out, text_opcode, (const unsigned char *)text, strlen(text));
  return send(c->fd, out, bytes, MSG_NOSIGNAL) == bytes;
}

static void connect_client(client *c, int port, const char *request) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  /* The close resets the connection: thousands of sockets in TIME_WAIT would leave no ports for the next run. */
  struct linger reset = {1, 0};
  int one = 1;
  char answer[4096];
  size_t have = 0;
  c->fd = socket(AF_INET, SOCK_STREAM, 0);
  if (c->fd < 0) fail("socket: %s", strerror(errno));
  setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
  setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (connect(c->fd, (struct sockaddr *)&to, sizeof to) < 0) fail("connect: %s", strerror(errno));
  if (send(c->fd, request, strlen(request), MSG_NOSIGNAL) < 0) fail("upgrade: %s", strerror(errno));
  /* Servers send nothing behind the headers before the first frame, so reading in blocks takes no frame away. */
  for (;;) {
    ssize_t got = recv(c->fd, answer + have, sizeof answer - 1 - have, 0);
    if (got <= 0) fail("the server ended an upgrade");
    have += got;
    answer[have] = 0;
    if (strstr(answer, "\r\n\r\n")) break;
  }
  if (strncmp(answer, "HTTP/1.1 101", 12) != 0) fail("an upgrade was answered: %.300s", answer);
  fcntl(c->fd, F_SETFL, O_NONBLOCK);
  struct epoll_event wanted = {.events = EPOLLIN, .data.ptr = c};
  epoll_ctl(epoll_fd, EPOLL_CTL_ADD, c->fd, &wanted);
}

static void answered(client *c, int64_t now) {
  int64_t n = c->answered++ * streams + (c - clients);
  if (n >= window_from && n < window_to) note(latency, now - due_ns(n));
}

static int says(const unsigned char *payload, int bytes, const char *word) {
  return memmem(payload, bytes < 64 ? bytes : 64, word, strlen(word)) != NULL;
}

static void take(client *c, int opcode, const unsigned char *payload, int bytes, int64_t now) {
  if (opcode == close_opcode && !c->closed) {
    c->closed = 1;
    closed_count++;
  }
  if (opcode == binary_opcode) return answered(c, now);
  if (opcode != text_opcode) return;
  if (says(payload, bytes, "\"transcript\"")) return answered(c, now);
  if (says(payload, bytes, "\"error\"")) fail("the server refused: %.*s", bytes < 300 ? bytes : 300, payload);
  if (!c->ready && says(payload, bytes, "\"ready\"")) {
    c->ready = 1;
    opened++;
  }
}

static void receive(client *c) {
  static unsigned char buffer[kept_bytes + read_bytes];
  memcpy(buffer, c->keep, c->kept);
  ssize_t got = recv(c->fd, buffer + c->kept, read_bytes, 0);
  if (got < 0 && errno == EAGAIN) return;
  if (got <= 0) {
    if (!c->closed) closed_count++;
    if (due_frames < window_to) fail("the server closed a stream after %lld answers", (long long)c->answered);
    c->closed = 1;
    epoll_ctl(epoll_fd, EPOLL_CTL_DEL, c->fd, NULL);
    return;
  }
  int64_t now = now_ns();
  int have = c->kept + got, at = 0;
  while (have - at >= 2) {
    int bytes = buffer[at + 1] & 127, head = 2;
    if (bytes == 127) fail("the server sent a frame of more than 64 KiB");
    if (bytes == 126) {
      if (have - at < 4) break;
      bytes = buffer[at + 2] << 8 | buffer[at + 3];
      head = 4;
    }
    if (have - at < head + bytes) break;
    take(c, buffer[at] & 15, buffer + at + head, bytes, now);
    at += head + bytes;
  }
  c->kept = have - at;
  if (c->kept > kept_bytes) fail("the server sent a frame of more than %d bytes", kept_bytes);
  memcpy(c->keep, buffer + at, c->kept);
}

static void poll_once(int timeout_ms) {
  static struct epoll_event events[batch];
  int count = epoll_wait(epoll_fd, events, batch, timeout_ms);
  for (int i = 0; i < count; i++) receive(events[i].data.ptr);
}

static void send_frame(client *c, int64_t n, int64_t now) {
  if (c->rest > 0) {
    ssize_t sent = send(c->fd, frame + frame_bytes - c->rest, c->rest, MSG_NOSIGNAL);
    if (sent > 0) c->rest -= sent;
  }
  ssize_t sent = c->rest > 0 ? -1 : send(c->fd, frame, frame_bytes, MSG_NOSIGNAL);
  if (sent > 0) c->rest = frame_bytes - sent;
  if (n < window_from) return;
  note(lag, now - due_ns(n));
  if (sent < 0) unsent++;
}

/* Sends the frames from `due_frames` to `until`, and reads the answers that have come between two of them. */
static void run(int64_t until) {
  while (due_frames < until) {
    int64_t now = now_ns();
    for (int sent = 0; sent < 32 && due_frames < until && due_ns(due_frames) <= now; sent++) {
      send_frame(&clients[due_frames % streams], due_frames, now);
      due_frames++;
    }
    poll_once(0);
  }
}

/* In microseconds. Lost frames rank above all measured ones. */
static double percentile(const uint32_t *histogram, int64_t lost, double share) {
  int64_t all = lost, sum = 0;
  for (int i = 0; i <= buckets; i++) all += histogram[i];
  for (int i = 0; i <= buckets; i++)
    if ((sum += histogram[i]) >= all * share) return (i + 0.5) * bucket_us;
  return (double)buckets * bucket_us;
}

static void say(const char *line) {
  puts(line);
  fflush(stdout);
}

static void await_open(void) {
  int64_t until = now_ns() + open_ms * 1000000LL;
  while (with_config && opened < streams) {
    if (now_ns() > until) fail("%lld of %lld streams became ready", (long long)opened, (long long)streams);
    poll_once(100);
  }
}

static void measure(int64_t warm_up_ms, int64_t measure_ms) {
  int64_t a_second = 1000000000LL * streams / period_ns;
  window_from = a_second * warm_up_ms / 1000 / streams * streams;
  window_to = window_from + a_second * measure_ms / 1000 / streams * streams;
  start_ns = now_ns();
  run(window_from);
  say("start");
  run(window_to);
  say("stop");
  int64_t until = now_ns() + stragglers_ms * 1000000LL;
  int64_t frames = window_to - window_from, got = 0;
  while (got < frames && now_ns() < until) {
    poll_once(10);
    got = 0;
    for (int i = 0; i <= buckets; i++) got += latency[i];
  }
  printf("{\"frames\":%lld,\"lost\":%lld,\"unsent\":%lld,\"p50Us\":%.0f,\"p99Us\":%.0f,\"lagP99Us\":%.0f}\n", (long long)frames,
         (long long)(frames - got), (long long)unsent, percentile(latency, frames - got, 0.5),
         percentile(latency, frames - got, 0.99), percentile(lag, 0, 0.99));
  fflush(stdout);
}

static void say_goodbye(void) {
  if (!with_config) return;
  int64_t until = now_ns() + goodbye_ms * 1000000LL;
  /* A client in the middle of a frame, or with a full socket, cannot send a close frame, so it is reset. */
  for (client *c = clients; c < clients + streams; c++)
    if (!c->closed && (c->rest > 0 || !send_text(c, "{\"type\":\"end\"}"))) c->closed = 1, closed_count++;
  while (closed_count < streams && now_ns() < until) poll_once(10);
}

int main(int argc, char **argv) {
  if (argc != 8 && argc != 11) fail("load PORT PATH STREAMS PERIOD_US WARM_UP_MS MEASURE_MS PAYLOAD_BYTES [SUBPROTOCOL KEY CONFIG]");
  static char request[2048], protocol[1024];
  static unsigned char payload[65536];
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  streams = atoll(argv[3]);
  period_ns = atoll(argv[4]) * 1000;
  int payload_bytes = atoi(argv[7]);
  if (streams < 1 || period_ns < 1 || payload_bytes < 1 || payload_bytes > 65535) fail("a number is out of its range");
  with_config = argc == 11;
  if (with_config)
    snprintf(protocol, sizeof protocol, "Sec-WebSocket-Protocol: %s\r\nAuthorization: Bearer %s\r\n", argv[8], argv[9]);
  snprintf(request, sizeof request,
           "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
           "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n%s\r\n",
           argv[2], argv[1], protocol);
  for (int i = 0; i < payload_bytes; i++) payload[i] = i * 31;
  frame_bytes = masked(frame, binary_opcode, payload, payload_bytes);
  clients = calloc(streams, sizeof *clients);
  epoll_fd = epoll_create1(0);
  window_to = INT64_MAX;
  for (int64_t i = 0; i < streams; i++) {
    connect_client(&clients[i], atoi(argv[1]), request);
    if (with_config && !send_text(&clients[i], argv[10])) fail("a config frame was not taken");
    /* Servers that give a client few seconds for its first frames must be read while the others connect. */
    poll_once(0);
  }
  await_open();
  say("open");
  measure(atoll(argv[5]), atoll(argv[6]));
  while (getchar() != EOF) {
  }
  say_goodbye();
  return 0;
}
