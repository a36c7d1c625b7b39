// A worker thread, timers, the thread pool.
const { Worker, isMainThread, parentPort } = require('worker_threads');
const zlib = require('zlib');

if (isMainThread) {
    const worker = new Worker(__filename);
    worker.on('message', (sum) => {
        console.log('sum', sum);
        zlib.gzip('hello'.repeat(1000), (error, packed) => {
            console.log('packed', zlib.gunzipSync(packed).length);
            setTimeout(() => { process.exit(6); }, 2000);
        });
    });
} else {
    let sum = 0;
    for (let i = 0; i < 1e5; i++) sum += i;
    parentPort.postMessage(sum);
}
