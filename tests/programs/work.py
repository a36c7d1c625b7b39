# What people use Python for: json, re, hashlib, text, numbers, files, threads.
import collections, hashlib, json, math, os, queue, random, re, sys, tempfile, threading, time, zlib


def n_body(steps):
    bodies = [[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 39.47841760435743],
              [4.84143144246472082945e+00, -1.16032004402742839362e+00, -1.03622044471123109494e-01,
               0.606326392995832, 2.81198684491626, -0.02521836165988763, 0.03769367487038949],
              [8.34336671824457987790e+00, 4.12479856412430479268e+00, -4.03523417114321381129e-01,
               -1.01077434617879, 1.82566237123041, 0.00841576137658415, 0.011286326131968767]]
    for _ in range(steps):
        for i, a in enumerate(bodies):
            for b in bodies[i + 1:]:
                d = [a[k] - b[k] for k in range(3)]
                m = 0.01 / (sum(x * x for x in d) ** 1.5)
                for k in range(3):
                    a[3 + k] -= d[k] * b[6] * m
                    b[3 + k] += d[k] * a[6] * m
        for a in bodies:
            for k in range(3):
                a[k] += 0.01 * a[3 + k]
    return [repr(x) for x in bodies[0]]


def with_threads():
    todo, done, lock = queue.Queue(), [], threading.Lock()

    def work():
        while (n := todo.get()) is not None:
            with lock:
                done.append(n * n)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for n in range(200):
        todo.put(n)
    for _ in threads:
        todo.put(None)
    for t in threads:
        t.join()
    return sum(done)


random.seed(7)
data = {"list": [random.random() for _ in range(200)], "text": "häßlich ☃ \n", "none": None, "deep": {"a": [1, {"b": 2}]}}
text = json.dumps(data, sort_keys=True)
print(json.loads(text) == data, hashlib.sha256(text.encode()).hexdigest(), zlib.crc32(text.encode()))
print({n: hashlib.new(n, b"abc").hexdigest() for n in ("md5", "sha1", "sha512", "sha3_256", "blake2b")})
words = collections.Counter(re.findall(r"\b[a-z]+(?:ing|ed)\b", open(__file__).read() * 3))
print(sorted(words.items()))
print(re.sub(r"(\w+)@(\w+)\.com", r"\2 at \1", "joe@example.com, ann@test.com"))
print(n_body(200))
print(math.factorial(100) % (10 ** 9 + 7), pow(3, 10 ** 6, 10 ** 9 + 7))
print(with_threads())
with tempfile.TemporaryDirectory() as d:
    name = os.path.join(d, "file")
    with open(name, "w") as f:
        f.writelines(f"{i}\n" for i in range(1000))
    print(os.path.getsize(name), sorted(os.listdir(d)), sum(int(x) for x in open(name)))
    os.rename(name, name + "2")
    print(os.path.exists(name), os.path.isfile(name + "2"))
start = time.monotonic()
time.sleep(0.01)
print(time.monotonic() - start >= 0.01)
try:
    [][1]
except IndexError as e:
    print(e)
print("to stderr", file=sys.stderr)
sys.exit(4)
